//! From the crate's errors to faults. A refusal keeps its code, whose meaning is in the store's file; what happened on the way is known here.
//!
//! No password is ever part of a text: neither server nor crate repeats one.

use crate::Fault;
use mongodb::bson::{Bson, Document};
use mongodb::error::{Error, ErrorKind as Native, WriteFailure};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// The fault for a native error, met during `operation`.
pub(super) fn fault(operation: &str, error: Error) -> Fault {
    let (kind, doubt, text) = match &*error.kind {
        Native::Command(native) => return refused(native.code, &native.message.clone(), error),
        Native::Write(WriteFailure::WriteError(native)) => {
            return refused(native.code, &native.message.clone(), error);
        }
        Native::Io(cause) => {
            let (kind, doubt, advice) = io_meaning(cause.kind());
            (kind, doubt, format!("{cause}; {advice}"))
        }
        other => {
            let (kind, doubt, advice) = meaning(other);
            (kind, doubt, format!("{other}; {advice}"))
        }
    };
    StoreError::new(kind, operation, text).with_doubt(doubt).with_source(error).into()
}

fn refused(code: i32, message: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::Refused { codes: vec![code.to_string()], text: message.to_owned(), source: source.into() }
}

/// What an answer to a write refuses, if it does: the first document's place, where it is about a document.
pub(super) fn refusal(answer: &Document) -> Option<(Option<usize>, Fault)> {
    let errors = answer.get_array("writeErrors").into_iter().flatten().filter_map(Bson::as_document);
    let place = |error: &&Document| error.get_i32("index").unwrap_or(i32::MAX);
    let (place, error) = match errors.min_by_key(place) {
        Some(first) => (usize::try_from(first.get_i32("index").unwrap_or(0)).ok(), first),
        None => (None, answer.get_document("writeConcernError").ok()?),
    };
    let message = error.get_str("errmsg").unwrap_or("no words");
    Some((place, refused(error.get_i32("code").unwrap_or(0), message, message)))
}

/// What each kind of the crate's own errors means: our kind, whether a write may nevertheless be stored, and the next step.
fn meaning(native: &Native) -> (ErrorKind, bool, &'static str) {
    use ErrorKind as Kind;
    match native {
        Native::Authentication { .. } => {
            (Kind::Authentication, false, "check user, password and authSource in the URL")
        }
        Native::ServerSelection { .. } => {
            (Kind::Unavailable, false, "no server answered: start it or correct host and port")
        }
        Native::DnsResolve { .. } => {
            (Kind::Unavailable, false, "the host's name cannot be resolved: check it and the network")
        }
        Native::ConnectionPoolCleared { .. } | Native::Shutdown => {
            (Kind::Unavailable, false, "the connection was given up after an earlier failure: connect again")
        }
        Native::InvalidTlsConfig { .. } => {
            (Kind::Configuration, false, "check the options of TLS in the URL")
        }
        Native::IncompatibleServer { .. } | Native::SessionsNotSupported => {
            (Kind::Unsupported, false, "MongoDB 6.0 or later is needed")
        }
        Native::InvalidArgument { .. } | Native::Transaction { .. } => {
            (Kind::Rejected, false, "the driver refused it")
        }
        Native::InvalidResponse { .. } => {
            (Kind::Protocol, true, "the answer could not be understood: is it a MongoDB server?")
        }
        _ => (Kind::Protocol, true, "driver and server misunderstood each other"),
    }
}

/// The same of input and output.
fn io_meaning(kind: io::ErrorKind) -> (ErrorKind, bool, &'static str) {
    use io::ErrorKind as Io;
    let (meaning, is_in_doubt, advice) = io_error::meaning(kind).unwrap_or(match kind {
        Io::InvalidData => {
            (ErrorKind::Protocol, true, "what came was no answer of MongoDB's: check host, port and TLS")
        }
        _ => (ErrorKind::Unavailable, true, "input or output failed: check the network and the server's log"),
    });
    let advice = match kind {
        Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::UnexpectedEof => {
            "the connection broke; look into the server's log, and connect again. MongoDB ends itself when its disk is full, and hangs up when it has as many \
             connections as it allows"
        }
        _ => advice,
    };
    (meaning, is_in_doubt, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    #[test]
    fn a_refused_connection_is_not_in_doubt_and_a_broken_one_is() {
        let refused = io_meaning(io::ErrorKind::ConnectionRefused);
        assert_eq!((refused.0, refused.1), (ErrorKind::Unavailable, false));
        let broken = io_meaning(io::ErrorKind::ConnectionReset);
        assert_eq!((broken.0, broken.1), (ErrorKind::Unavailable, true));
    }

    #[test]
    fn the_first_document_that_is_refused_says_why() {
        let error = |index: i32| doc! { "index": index, "code": 11_000 + index, "errmsg": "twice" };
        let answer = doc! { "n": 1, "writeErrors": [error(3), error(2)] };
        let Some((place, Fault::Refused { codes, .. })) = refusal(&answer) else { panic!("{answer}") };
        assert_eq!((place, codes), (Some(2), vec!["11002".to_owned()]));
        assert!(refusal(&doc! { "n": 1 }).is_none());
    }
}
