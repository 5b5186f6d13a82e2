//! The server's administration over HTTP: its state, joining its cluster, checkpoints and settings. None of it is reached through the C client.
//!
//! Requests are few and small, so this speaks just enough HTTP/1.0 by itself.

use crate::config::Options;
use crate::error::abnormal;
use sensormark_kit::url::basic_authorization;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::Value;
use std::io::{Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The largest answer that is read, in bytes.
const LARGEST: u64 = 8 << 20;

/// What the line of a node's log has that tells why its services end.
const FATAL: &str = "SetError";

/// The administration of a node.
pub(crate) struct Rest<'a> {
    options: &'a Options,
    time_out: Duration,
}

impl<'a> Rest<'a> {
    /// Of the first node of these options.
    pub(crate) const fn new(options: &'a Options, time_out: Duration) -> Self {
        Self { options, time_out }
    }

    /// The node's state: version, cluster, memory, files.
    pub(crate) fn state(&self) -> Result<Value, StoreError> {
        self.ask("ask GridDB for its state", "GET", "/node/stat", "")
    }

    /// The node's settings.
    pub(crate) fn settings(&self) -> Result<Value, StoreError> {
        self.ask("read GridDB's settings", "GET", "/node/config", "")
    }

    /// Lets the node join its cluster as the only node.
    pub(crate) fn join(&self) -> Result<(), StoreError> {
        let form = format!("clusterName={}&minNodeNum=1", self.options.cluster);
        self.ask("join the cluster", "POST", "/node/join", &form)
            .map(drop)
    }

    /// Starts a checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<(), StoreError> {
        self.ask("start a checkpoint", "POST", "/node/checkpoint", "")
            .map(drop)
    }

    /// Fails where a node of this state has met an error that ended its services, though not its process. Clients then hear of broken
    /// connections alone; its log says why.
    pub(crate) fn check(&self, operation: &str, state: &Value) -> Result<(), StoreError> {
        if state["cluster"]["nodeStatus"] != "ABNORMAL" {
            return Ok(());
        }
        let path = format!("/node/log?length=1&searchStr={FATAL}");
        let lines = self.ask("read GridDB's log", "GET", &path, "");
        let said = lines.ok().and_then(|lines| lines[0].as_str().map(reason));
        Err(abnormal(
            operation,
            said.as_deref().unwrap_or("its log does not say why"),
        ))
    }

    fn ask(
        &self,
        operation: &str,
        method: &str,
        path: &str,
        form: &str,
    ) -> Result<Value, StoreError> {
        let (host, _) = &self.options.nodes[0];
        let bytes = self.exchange(host, method, path, form).map_err(|error| {
            let late = matches!(
                error.kind(),
                std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock
            );
            let (kind, advice) = if late {
                (ErrorKind::Timeout, "check the server's load")
            } else {
                (
                    ErrorKind::Unavailable,
                    "check that the server runs, and the URL's option rest",
                )
            };
            let port = self.options.rest;
            let text = format!("its administration at port {port}: {error}; {advice}");
            StoreError::new(kind, operation, text)
                .with_doubt(late)
                .with_source(error)
        })?;
        read(operation, &bytes)
    }

    fn exchange(
        &self,
        host: &str,
        method: &str,
        path: &str,
        form: &str,
    ) -> std::io::Result<Vec<u8>> {
        let mut addresses = (host, self.options.rest).to_socket_addrs()?;
        let address = addresses
            .next()
            .ok_or_else(|| std::io::Error::other("the host has no address"))?;
        let mut stream = TcpStream::connect_timeout(&address, self.time_out)?;
        stream.set_read_timeout(Some(self.time_out))?;
        stream.set_write_timeout(Some(self.time_out))?;
        let authorization = basic_authorization(&self.options.user, &self.options.password);
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {host}\r\nAuthorization: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{form}",
            authorization.expose(),
            form.len()
        );
        stream.write_all(request.as_bytes())?;
        receive(&mut stream)
    }
}

/// Reads an answer to its stated length, or else to the end of the connection.
fn receive(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut part = [0; 16_384];
    loop {
        let count = stream.read(&mut part)?;
        bytes.extend_from_slice(&part[..count]);
        if count == 0 || is_whole(&bytes) {
            return Ok(bytes);
        }
        if bytes.len() as u64 > LARGEST {
            return Err(std::io::Error::other("the answer is longer than 8 MiB"));
        }
    }
}

/// Head and body of an answer.
fn split(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    Some((head, &bytes[end + 4..]))
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, body)) = split(bytes) else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let named = name.eq_ignore_ascii_case("content-length");
        named.then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    length.is_some_and(|length| body.len() >= length)
}

/// The value of an answer, [`Value::Null`] where it has no body.
fn read(operation: &str, bytes: &[u8]) -> Result<Value, StoreError> {
    let wrong = |what: &str| {
        let text = format!("{what}; is the URL's option rest the port of the administration?");
        StoreError::new(ErrorKind::Protocol, operation, text)
    };
    let (head, body) = split(bytes).ok_or_else(|| wrong("the answer is not HTTP"))?;
    // GridDB gives no phrase after the number.
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    let body = String::from_utf8_lossy(body);
    match status {
        "200" if body.trim().is_empty() => Ok(Value::Null),
        "200" => serde_json::from_str(&body).map_err(|_| wrong("the answer is not JSON")),
        "401" => Err(StoreError::new(
            ErrorKind::Authentication,
            operation,
            "the administration refuses user and password; it takes those of an administrator alone",
        )),
        "503" => Err(StoreError::new(
            ErrorKind::Unavailable,
            operation,
            "the server is starting or stopping",
        )
        .with_doubt(false)),
        status => {
            let text = format!("the server answers {status}: {}", body.trim());
            Err(StoreError::new(ErrorKind::Rejected, operation, text))
        }
    }
}

/// The reason in a line of the log, without what is meant for the database's makers.
fn reason(line: &str) -> String {
    let said = line.split_once("(reason=").map_or(line, |(_, said)| said);
    let end = said.find(" (System error").or_else(|| said.find(" <"));
    said[..end.unwrap_or(said.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_why_a_node_gave_up() {
        let line = "2026-11-22T00:45:11.195Z vm 3976 ERROR CLUSTER_OPERATION [1042:CM_PLATFORM_ERROR] [ERROR] SetError requested (reason=Write log failed. \
                    reason=(Platform error (errno=28, description=No space left on device))) (System error, containerName=c, executionName=put) <VVZp3r>";
        let said = reason(line);
        assert_eq!(
            said,
            "Write log failed. reason=(Platform error (errno=28, description=No space left on device)))"
        );
        assert_eq!(abnormal("settle", &said).kind(), ErrorKind::DiskFull);
        let other = abnormal(
            "settle",
            &reason("SetError requested (reason=broken <VVZp3r>"),
        );
        assert_eq!(other.kind(), ErrorKind::Crashed);
        assert!(other.to_string().contains("any more: broken; look"));
    }

    #[test]
    fn answers_are_read() {
        let good = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}";
        assert_eq!(read("ask", good).unwrap()["a"], 1);
        assert!(is_whole(good) && !is_whole(&good[..good.len() - 1]));
        let bare = b"HTTP/1.1 200\r\nContent-Length: 8\r\n\r\n{\"a\": 1}";
        assert_eq!(read("ask", bare).unwrap()["a"], 1);
        let refused = read("ask", b"HTTP/1.1 401 Unauthorized\r\n\r\n").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Authentication);
        let odd = read("ask", b"hello").unwrap_err();
        assert_eq!(odd.kind(), ErrorKind::Protocol);
    }
}
