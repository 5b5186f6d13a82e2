//! The server's administration over HTTP: its state, joining its cluster, checkpoints and settings. None of it is reached through the C client.
//!
//! Requests are few and small, so each has a connection of its own.

use crate::config::Options;
use crate::error::abnormal;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use sensormark_kit::url::basic_authorization;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The largest answer that is read, in bytes.
const LARGEST: usize = 8 << 20;

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
        self.ask("ask GridDB for its state", Method::GET, "/node/stat", String::new())
    }

    /// The node's settings.
    pub(crate) fn settings(&self) -> Result<Value, StoreError> {
        self.ask("read GridDB's settings", Method::GET, "/node/config", String::new())
    }

    /// Lets the node join its cluster as the only node.
    pub(crate) fn join(&self) -> Result<(), StoreError> {
        let form = format!("clusterName={}&minNodeNum=1", self.options.cluster);
        self.ask("join the cluster", Method::POST, "/node/join", form).map(drop)
    }

    /// Starts a checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<(), StoreError> {
        self.ask("start a checkpoint", Method::POST, "/node/checkpoint", String::new()).map(drop)
    }

    /// Fails where a node of this state has met an error that ended its services, though not its process. Clients then hear of broken
    /// connections alone; its log says why.
    pub(crate) fn check(&self, operation: &str, state: &Value) -> Result<(), StoreError> {
        if state["cluster"]["nodeStatus"] != "ABNORMAL" {
            return Ok(());
        }
        let path = format!("/node/log?length=1&searchStr={FATAL}");
        let lines = self.ask("read GridDB's log", Method::GET, &path, String::new());
        let said = lines.ok().and_then(|lines| lines[0].as_str().map(reason));
        Err(abnormal(operation, said.as_deref().unwrap_or("its log does not say why")))
    }

    fn ask(&self, operation: &str, method: Method, path: &str, form: String) -> Result<Value, StoreError> {
        let exchange = async {
            let request = self.request(operation, method, path, form)?;
            let stream = self.connect(operation).await?;
            let answered = timeout(self.time_out, answer(stream, request)).await;
            let late = |_| self.late(operation).with_doubt(true);
            answered.map_err(late)?.map_err(|trouble| match trouble {
                Trouble::Transport(error) if error.is_parse() => {
                    wrong(operation, "the answer is not HTTP").with_source(error)
                }
                Trouble::Transport(error) => self.unreachable(operation, error),
                Trouble::Body(error) => wrong(operation, &error.to_string()),
            })
        };
        // A thread of its own, because whoever asks may be inside a runtime, and that of a blocking session has no input and output.
        let asked = std::thread::scope(|scope| {
            let started = std::thread::Builder::new().spawn_scoped(scope, || {
                let runtime = sensormark_server::runtime().map_err(|error| {
                    let text = format!("input and output cannot be prepared: {error}");
                    StoreError::new(ErrorKind::Overload, operation, text).with_source(error)
                })?;
                runtime.block_on(exchange)
            });
            match started {
                Ok(thread) => thread.join(),
                Err(error) => {
                    let text = format!("cannot start a thread: {error}");
                    Ok(Err(StoreError::new(ErrorKind::Overload, operation, text).with_source(error)))
                }
            }
        });
        let (status, body) = asked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        read(operation, status, &body)
    }

    fn request(
        &self,
        operation: &str,
        method: Method,
        path: &str,
        form: String,
    ) -> Result<Request<String>, StoreError> {
        let failed = |error: hyper::http::Error| {
            let text = format!(
                "{error}; host, user or password in the URL hold characters that HTTP does not allow"
            );
            StoreError::new(ErrorKind::Configuration, operation, text)
        };
        let (host, _) = &self.options.nodes[0];
        let authorization = basic_authorization(&self.options.user, &self.options.password);
        let mut authorization =
            HeaderValue::from_str(authorization.expose()).map_err(|error| failed(error.into()))?;
        authorization.set_sensitive(true);
        Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, format!("{host}:{}", self.options.rest))
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(CONNECTION, "close")
            .body(form)
            .map_err(failed)
    }

    async fn connect(&self, operation: &str) -> Result<TcpStream, StoreError> {
        let (host, _) = &self.options.nodes[0];
        let connecting = TcpStream::connect((host.as_str(), self.options.rest));
        match timeout(self.time_out, connecting).await {
            Ok(connected) => connected.map_err(|error| self.unreachable(operation, error)),
            Err(_) => Err(self.late(operation).with_doubt(false)),
        }
    }

    fn late(&self, operation: &str) -> StoreError {
        let (port, waited) = (self.options.rest, self.time_out.as_millis());
        let text = format!(
            "its administration at port {port} does not answer within {waited} ms; check the server's load"
        );
        StoreError::new(ErrorKind::Timeout, operation, text)
    }

    fn unreachable(
        &self,
        operation: &str,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> StoreError {
        let port = self.options.rest;
        let text = format!(
            "its administration at port {port}: {error}; check that the server runs, and the URL's option rest"
        );
        StoreError::new(ErrorKind::Unavailable, operation, text).with_doubt(false).with_source(error)
    }
}

/// Why there is no answer.
enum Trouble {
    /// The connection, or what came over it.
    Transport(hyper::Error),
    /// The answer's body: too long, or broken off.
    Body(Box<dyn std::error::Error + Send + Sync>),
}

/// Sends a request over a connection of its own, and takes the whole answer.
async fn answer(stream: TcpStream, request: Request<String>) -> Result<(StatusCode, Bytes), Trouble> {
    let (mut sender, connection) = http1::Builder::new()
        // GridDB knows "Authorization" and not "authorization", although HTTP makes no difference.
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(Trouble::Transport)?;
    let exchange = async move {
        let answer = sender.send_request(request).await;
        let (head, body) = answer.map_err(Trouble::Transport)?.into_parts();
        let body = Limited::new(body, LARGEST).collect().await;
        Ok((head.status, body.map_err(Trouble::Body)?.to_bytes()))
    };
    // The connection ends by itself after the answer; the request that meets its failure reports it.
    let (answered, _) = tokio::join!(exchange, connection);
    answered
}

fn wrong(operation: &str, what: &str) -> StoreError {
    let text = format!("{what}; is the URL's option rest the port of the administration?");
    StoreError::new(ErrorKind::Protocol, operation, text)
}

/// The value of an answer, [`Value::Null`] where it has no body.
fn read(operation: &str, status: StatusCode, body: &[u8]) -> Result<Value, StoreError> {
    let body = String::from_utf8_lossy(body);
    match status {
        StatusCode::OK if body.trim().is_empty() => Ok(Value::Null),
        StatusCode::OK => serde_json::from_str(&body).map_err(|_| wrong(operation, "the answer is not JSON")),
        StatusCode::UNAUTHORIZED => Err(StoreError::new(
            ErrorKind::Authentication,
            operation,
            "the administration refuses user and password; it takes those of an administrator alone",
        )),
        StatusCode::SERVICE_UNAVAILABLE => {
            Err(StoreError::new(ErrorKind::Unavailable, operation, "the server is starting or stopping")
                .with_doubt(false))
        }
        status => {
            let text = format!("the server answers {}: {}", status.as_u16(), body.trim());
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
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener};

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
        let other = abnormal("settle", &reason("SetError requested (reason=broken <VVZp3r>"));
        assert_eq!(other.kind(), ErrorKind::Crashed);
        assert!(other.to_string().contains("any more: broken; look"));
    }

    /// What a node that gives this answer to the first connection is understood to say, and the request that it got.
    fn asked(answer: &'static [u8], time_out: Duration) -> (Result<Value, StoreError>, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("griddb://admin:secret@127.0.0.1:1/cluster?rest={port}");
        let options = Options::parse(&url).unwrap();
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
        let value = Rest::new(&options, time_out).state();
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
            let (refused, _) = asked(answer, long);
            assert_eq!(refused.unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn a_silent_node_is_given_up_in_time() {
        let (late, _) = asked(b"", Duration::from_millis(200));
        let late = late.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Timeout);
        assert!(late.is_in_doubt(), "what was asked may be done");
        assert!(late.to_string().contains("within 200 ms"), "{late}");
    }

    #[test]
    fn nobody_at_the_port_is_told_with_the_option_to_check() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let url = format!("griddb://admin:secret@127.0.0.1:1/cluster?rest={port}");
        let options = Options::parse(&url).unwrap();
        let error = Rest::new(&options, Duration::from_secs(10)).state();
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("the URL's option rest"), "{error}");
        assert!(!format!("{error:?}").contains("secret"));
    }

    /// A blocking session's runtime has no input and output, and none may be started inside another.
    #[test]
    fn a_node_is_asked_from_inside_a_runtime_too() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let good = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let (value, _) = runtime.block_on(async { asked(good, Duration::from_secs(10)) });
        assert!(value.unwrap().is_object());
    }
}
