//! The server's administration over HTTP: its state, joining its cluster, checkpoints and settings. None of it is reached through the C client.
//!
//! Requests are few and small, so each has a connection of its own, which waits as the C client does. (GridDB knows "Authorization" and not "authorization",
//! although HTTP makes no difference.)

use super::url::Options;
use crate::Fault;
use sensormark_kit::io_error;
use sensormark_kit::url::basic_authorization;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// The largest answer that is read, in bytes.
const LARGEST: usize = 8 << 20;
/// How long a checkpoint may take, and how often it is looked at.
const SETTLE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);

/// The administration of the first node.
pub(super) struct Rest<'a> {
    pub(super) options: &'a Options,
    pub(super) time: Duration,
}

fn said(kind: ErrorKind, text: impl Into<String>) -> StoreError {
    StoreError::new(kind, "ask GridDB's administration", text)
}

fn wrong(what: &str) -> StoreError {
    said(ErrorKind::Protocol, format!("{what}; is the URL's option rest the port of the administration?"))
}

impl Rest<'_> {
    /// What a path has; nothing where the answer is empty.
    pub(super) fn get(&self, path: &str) -> Result<Value, Fault> {
        self.ask("GET", path, "")
    }

    /// Lets the node join its cluster as the only node.
    pub(super) fn join(&self) -> Result<(), Fault> {
        let form = format!("clusterName={}&minNodeNum=1", self.options.cluster);
        self.ask("POST", "/node/join", &form).map(drop)
    }

    /// The node's state. It fails where the node has met an error that ended its services, though not its process. Clients then hear of broken connections alone; its log
    /// says why.
    pub(super) fn state(&self) -> Result<Value, Fault> {
        let state = self.get("/node/stat")?;
        if state["cluster"]["nodeStatus"] != "ABNORMAL" {
            return Ok(state);
        }
        let lines = self.get("/node/log?length=1&searchStr=SetError").unwrap_or_default();
        let reason = lines[0].as_str().map_or("its log does not say why", reason);
        let text = format!("the node is ABNORMAL and serves nothing any more: {reason}");
        Err(Fault::Refused { codes: vec!["ABNORMAL".to_owned()], source: reason.to_owned().into(), text })
    }

    /// A manual checkpoint, to its end.
    pub(super) fn checkpoint(&self) -> Result<(), Fault> {
        // A node that has given up takes the order, and never follows it.
        let count = || Ok::<_, Fault>(self.state()?["checkpoint"]["requestedCheckpointOperation"].as_i64());
        let before = count()?.ok_or_else(|| wrong("the server does not count its checkpoints"))?;
        self.ask("POST", "/node/checkpoint", "")?;
        let started = Instant::now();
        while started.elapsed() < SETTLE {
            std::thread::sleep(LOOK);
            if count()?.is_some_and(|count| count > before) {
                return Ok(());
            }
        }
        Err(said(ErrorKind::Timeout, format!("the checkpoint is not done after {} s", SETTLE.as_secs()))
            .into())
    }

    fn ask(&self, method: &str, path: &str, form: &str) -> Result<Value, Fault> {
        let (host, port) = (&self.options.nodes[0].0, self.options.rest);
        let authorization = basic_authorization(&self.options.user, &self.options.password);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{form}",
            authorization.expose(),
            form.len()
        );
        let exchanged = self.exchanged(&request).map_err(|error| {
            let (kind, in_doubt, _) = io_error::meaning(error.kind()).unwrap_or((ErrorKind::Unavailable, true, ""));
            let text = format!(
                "port {port}: {error}, within {} ms; check that the server runs, its load, and the URL's option rest",
                self.time.as_millis()
            );
            said(kind, text).with_doubt(in_doubt).with_source(error)
        });
        read(&String::from_utf8_lossy(&exchanged?))
    }

    /// The whole answer to a request.
    fn exchanged(&self, request: &str) -> io::Result<Vec<u8>> {
        let (deadline, late) = (Instant::now() + self.time, io::ErrorKind::TimedOut);
        let address = (self.options.nodes[0].0.as_str(), self.options.rest).to_socket_addrs()?.next();
        let mut stream = TcpStream::connect_timeout(&address.ok_or(io::ErrorKind::NotFound)?, self.time)?;
        stream.write_all(request.as_bytes())?;
        let (mut answer, mut part) = (Vec::new(), [0; 16 << 10]);
        loop {
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
            stream.set_read_timeout(Some(left.filter(|_| answer.len() < LARGEST).ok_or(late)?))?;
            match stream.read(&mut part) {
                Ok(0) => return Ok(answer),
                Ok(count) => answer.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(late.into()),
                Err(error) => return Err(error),
            }
        }
    }
}

/// The value of an answer.
fn read(answer: &str) -> Result<Value, Fault> {
    let not_http = || wrong("the answer is not HTTP");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(not_http)?;
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).ok_or_else(not_http)?;
    Err(match (status, body.trim()) {
        ("200", "") => return Ok(Value::Null),
        ("200", body) => return Ok(serde_json::from_str(body).map_err(|_| wrong("the answer is not JSON"))?),
        ("401", _) => {
            let text =
                "the administration refuses user and password; it takes those of an administrator alone";
            said(ErrorKind::Authentication, text)
        }
        ("503", _) => said(ErrorKind::Unavailable, "the server is starting or stopping").with_doubt(false),
        (status, body) => said(ErrorKind::Rejected, format!("the server answers {status}: {body}")),
    }
    .into())
}

/// The reason in a line of the log, without what is meant for the database's makers.
fn reason(line: &str) -> &str {
    let said = line.split_once("(reason=").map_or(line, |(_, said)| said);
    let end = said.find(" (System error").or_else(|| said.find(" <"));
    &said[..end.unwrap_or(said.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn the_log_says_why_a_node_gave_up() {
        let line = "2026-11-22T00:45:11.195Z vm 3976 ERROR CLUSTER_OPERATION [1042:CM_PLATFORM_ERROR] [ERROR] SetError requested (reason=Write log failed. \
                    reason=(Platform error (errno=28, description=No space left on device))) (System error, containerName=c, executionName=put) <VVZp3r>";
        assert_eq!(
            reason(line),
            "Write log failed. reason=(Platform error (errno=28, description=No space left on device)))"
        );
        assert_eq!(reason("SetError requested (reason=broken <VVZp3r>"), "broken");
    }

    fn options(port: u16) -> Options {
        Options::parse(&format!("griddb://admin:secret@127.0.0.1:1/cluster?rest={port}")).unwrap()
    }

    /// The failure of this kind.
    fn known(answered: Result<Value, Fault>) -> StoreError {
        match answered {
            Err(Fault::Known(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    /// What a node that gives this answer to the first connection is understood to say, and the request that it got.
    fn asked(answer: &'static [u8], time: Duration) -> (Result<Value, Fault>, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let options = options(listener.local_addr().unwrap().port());
        let node = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; 4_096];
            let count = stream.read(&mut request).unwrap();
            stream.write_all(answer).unwrap();
            if answer.is_empty() {
                // silent, until the client gives up
                let _ = stream.read(&mut request);
            }
            String::from_utf8_lossy(&request[..count]).into_owned()
        });
        let value = Rest { options: &options, time }.state();
        (value, node.join().unwrap())
    }

    #[test]
    fn answers_are_read() {
        let long = Duration::from_secs(10);
        let good = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}";
        let (value, request) = asked(good, long);
        assert_eq!(value.unwrap()["a"], 1);
        assert!(request.starts_with("GET /node/stat HTTP/1.1\r\n"));
        assert!(request.contains("Authorization: Basic YWRtaW46c2VjcmV0\r\n"));
        // GridDB gives no phrase after the number; without a length the answer goes to the end of the connection.
        let (value, _) = asked(b"HTTP/1.1 200\r\n\r\n{\"a\": 1}", long);
        assert_eq!(value.unwrap()["a"], 1);
        let (value, _) = asked(b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", long);
        assert_eq!(value.unwrap(), Value::Null);
        for (answer, kind) in [
            (&b"HTTP/1.1 401 Unauthorized\r\n\r\n"[..], ErrorKind::Authentication),
            (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", ErrorKind::Unavailable),
            (b"HTTP/1.1 400 Bad Request\r\n\r\nno", ErrorKind::Rejected),
            (b"HTTP/1.1 200 OK\r\n\r\n<html>", ErrorKind::Protocol),
            (b"hello, what do you want?\r\n\r\n", ErrorKind::Protocol),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{", ErrorKind::Protocol),
        ] {
            assert_eq!(known(asked(answer, long).0).kind(), kind);
        }
    }

    #[test]
    fn a_silent_node_is_given_up_in_time() {
        let late = known(asked(b"", Duration::from_millis(200)).0);
        assert_eq!(late.kind(), ErrorKind::Timeout);
        assert!(late.is_in_doubt(), "what was asked may be done");
        assert!(late.to_string().contains("within 200 ms"), "{late}");
    }

    #[test]
    fn nobody_at_the_port_is_told_with_the_option_to_check() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let options = options(free.local_addr().unwrap().port());
        drop(free);
        let error = known(Rest { options: &options, time: Duration::from_secs(10) }.state());
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("the URL's option rest"), "{error}");
        assert!(!format!("{error:?}").contains("secret"));
    }
}
