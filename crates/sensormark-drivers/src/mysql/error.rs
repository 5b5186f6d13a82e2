//! From the driver's errors to faults. A refusal keeps its error number, whose meaning is in the store's file; what happened on the way is known here.
//!
//! No password is ever part of a text: neither server nor driver repeats one. Values of a rejected row may be, as the server quotes them.

use crate::Fault;
use mysql_async::{DriverError, Error, IoError};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// The fault for a native error, met during `operation`.
pub(super) fn fault(operation: &str, error: Error) -> Fault {
    let (kind, doubt, text) = match &error {
        Error::Server(native) => {
            let (codes, text) = (vec![native.code.to_string()], native.message.clone());
            return Fault::Refused { codes, text, source: Box::new(error) };
        }
        Error::Io(IoError::Io(cause)) => io_text(cause),
        Error::Io(IoError::Tls(cause)) => (
            ErrorKind::Configuration,
            false,
            format!("TLS: {cause}; check ssl-mode and ssl-ca in the URL against the server's certificate"),
        ),
        Error::Driver(native) => driver_text(native),
        Error::Url(native) => (ErrorKind::Configuration, false, native.to_string()),
        Error::Other(native) => (ErrorKind::Protocol, true, native.to_string()),
    };
    let known = StoreError::new(kind, operation, text).with_doubt(doubt);
    match error {
        // It carries the values of a statement, which may be long: its text says enough.
        Error::Driver(DriverError::BulkExecute(_)) => Fault::Known(known),
        other => Fault::Known(known.with_source(other)),
    }
}

fn driver_text(native: &DriverError) -> (ErrorKind, bool, String) {
    use DriverError as Native;
    use ErrorKind as Kind;
    match native {
        Native::ConnectionClosed | Native::PoolDisconnected => (
            Kind::Unavailable,
            true,
            "the server closed the connection; look into its log and connect again".to_owned(),
        ),
        Native::PacketTooLarge | Native::StmtParamsNumberExceedsLimit { .. } => (
            Kind::TooLarge,
            false,
            format!("{native}; make the batch smaller or raise the server's max_allowed_packet"),
        ),
        Native::BulkExecute(_) => (
            Kind::TooLarge,
            false,
            "a reading is larger than the server's max_allowed_packet; raise it or shorten the text"
                .to_owned(),
        ),
        Native::NoClientSslFlagFromServer => (
            Kind::Configuration,
            false,
            "the server offers no TLS; set ssl-mode=disabled in the URL or turn TLS on in the server"
                .to_owned(),
        ),
        Native::UnknownAuthPlugin { .. }
        | Native::MysqlOldPasswordDisabled
        | Native::CleartextPluginDisabled
        | Native::InvalidParsecSalt => (
            Kind::Authentication,
            false,
            format!("{native}; give the user a password with mysql_native_password"),
        ),
        Native::LocalInfile(cause) => {
            (Kind::Rejected, true, format!("{cause}; turn local_infile on in the server"))
        }
        Native::CantParseServerVersion { .. }
        | Native::PacketOutOfOrder
        | Native::BadCompressedPacketHeader => {
            (Kind::Protocol, true, format!("{native} Is this a MariaDB server's port?"))
        }
        Native::UnexpectedPacket { .. } => (
            Kind::Protocol,
            true,
            "a packet that does not belong here; is this a MariaDB server's port?".to_owned(),
        ),
        other => (Kind::Protocol, true, other.to_string()),
    }
}

/// Kind, whether a write may nevertheless be stored, and what happened with a next step.
fn io_text(cause: &io::Error) -> (ErrorKind, bool, String) {
    use ErrorKind as Kind;
    use io::ErrorKind as Io;
    let (kind, doubt, advice) = io_error::meaning(cause.kind()).unwrap_or_else(|| match cause.kind() {
        Io::InvalidInput | Io::InvalidData | Io::Other => {
            (Kind::Protocol, true, "is this a MariaDB server's port?")
        }
        _ => (Kind::Unavailable, true, "check that the server runs, then connect again"),
    });
    (kind, doubt, format!("{cause}; {advice}"))
}

/// Whether the connection is of no further use after this error.
pub(super) fn is_fatal(error: &Error) -> bool {
    match error {
        Error::Server(native) => {
            matches!(native.code, 1047 | 1053 | 1927 | 4150 | 1080 | 1180 | 1184)
        }
        Error::Driver(DriverError::BulkExecute(_) | DriverError::StmtParamsMismatch { .. }) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_connection_is_not_in_doubt() {
        let refused = io_text(&io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!((refused.0, refused.1), (ErrorKind::Unavailable, false));
    }
}
