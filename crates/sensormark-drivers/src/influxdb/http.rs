//! One connection of HTTP/1.1, driven in line with what waits for it.
//!
//! hyper splits a connection into a sender of requests and a connection that does the input and output. Both are polled by
//! the task that asks, so that a request costs no change of tasks. A connection that broke is made anew for the next
//! request. It knows paths and bodies, but neither tables nor languages.

use super::url::Options;
use crate::Fault;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use sensormark_kit::{io_error, tls};
use sensormark_store::{ErrorKind, StoreError};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

const CONNECT: &str = "connect to InfluxDB";
const OPERATION: &str = "ask InfluxDB";
/// The most characters of a sentence that are shown.
const SHOWN: usize = 300;

/// A stream of bytes to the server, through TLS or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What does the input and output; none once the connection has ended, which fails what still waits for it.
type Wire = Option<Pin<Box<Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>>>>;

/// A client's connection.
pub(super) struct Link {
    pub(super) options: Options,
    authorization: Option<HeaderValue>,
    host: HeaderValue,
    live: Option<(SendRequest<Full<Bytes>>, Wire)>,
}

/// What is sent: path and question, and a body of this kind, if there is one.
pub(super) struct Message<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    /// The form in which the answer is wanted.
    pub(super) accept: &'static str,
    pub(super) content: &'static str,
    /// Whether the body is packed by gzip.
    pub(super) packed: bool,
    pub(super) body: Bytes,
}

impl<'a> Message<'a> {
    /// A request without a body.
    pub(super) const fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            accept: "application/json",
            content: "",
            packed: false,
            body: Bytes::new(),
        }
    }

    /// A request with a body.
    pub(super) fn post(path: &'a str, content: &'static str, body: Bytes) -> Self {
        Self { method: Method::POST, content, body, ..Self::get(path) }
    }
}

/// An answer's head: HTTP's status, the server's version, and the sentence that says what is wrong, where the server says so there.
struct Head {
    status: u16,
    version: Option<String>,
    sentence: Option<String>,
}

/// Takes an answer's body part by part.
pub(super) type Sink<'a> = dyn FnMut(&[u8]) -> Result<(), Fault> + 'a;

fn not_connected(error: io::Error) -> StoreError {
    let unknown =
        (ErrorKind::Unavailable, false, "the connection cannot be made: check host, port and network");
    let (kind, _, advice) = match error.kind() {
        io::ErrorKind::InvalidData if error.to_string().contains("certificate") => (
            ErrorKind::Configuration,
            false,
            "https:// wants a certificate for the host's name by a public authority, or by one of the file that ?tls_ca=FILE names",
        ),
        other => io_error::meaning(other).unwrap_or(unknown),
    };
    StoreError::new(kind, CONNECT, format!("{advice} ({error})")).with_doubt(false).with_source(error)
}

fn broken(error: hyper::Error) -> StoreError {
    let kind = if error.is_parse() { ErrorKind::Protocol } else { ErrorKind::Unavailable };
    let text =
        format!("the connection broke before the answer was whole; see whether the server runs ({error})");
    StoreError::new(kind, OPERATION, text).with_doubt(true).with_source(error)
}

/// An answer that is not as InfluxDB's answers are.
pub(super) fn garbled(what: &str) -> StoreError {
    let text = format!("{what}; is this InfluxDB 1.8 or later, with nothing in between?");
    StoreError::new(ErrorKind::Protocol, OPERATION, text)
}

/// What the server refuses with this status and sentence.
pub(super) fn refused(status: u16, sentence: &str) -> Fault {
    let code = status.to_string();
    let line = sentence.trim().replace(['\n', '\r'], " ");
    let mut text: String = line.chars().take(SHOWN).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    Fault::Refused {
        codes: vec![code.clone(), format!("{}xx", &code[..1])],
        source: text.clone().into(),
        text,
    }
}

/// What an answer's body says is wrong: InfluxDB puts a sentence into JSON or, where that was asked for, `MessagePack`; proxies write text.
fn sentence(body: &[u8]) -> String {
    let told: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let told = told.as_ref().and_then(|told| told.get("error").or_else(|| told.get("message"))?.as_str());
    let packed = || super::answer::sentence(body).map(str::to_owned);
    told.map(str::to_owned).or_else(packed).unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

impl Link {
    /// Connects.
    pub(super) async fn open(options: Options) -> Result<Self, StoreError> {
        let header = |text: &str| {
            let advice = "host, user or token hold characters that HTTP does not allow; correct the URL";
            HeaderValue::from_str(text)
                .map_err(|_| StoreError::new(ErrorKind::Configuration, CONNECT, advice))
        };
        let mut authorization =
            options.authorization.as_ref().map(|secret| header(secret.expose())).transpose()?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let is_six = options.host.contains(':');
        let name = if is_six { format!("[{}]", options.host) } else { options.host.clone() };
        let host = header(&format!("{name}:{}", options.port))?;
        let mut link = Self { options, authorization, host, live: None };
        link.ensure().await?;
        Ok(link)
    }

    /// Does without user and password from now on, because nobody has either before the first user is made.
    pub(super) fn forget_user(&mut self) {
        self.authorization = None;
    }

    async fn ensure(&mut self) -> Result<(), StoreError> {
        if !self.live.as_ref().is_some_and(|(sender, wire)| wire.is_some() && !sender.is_closed()) {
            self.live = None;
            self.live = Some(connect(&self.options).await?);
        }
        Ok(())
    }

    /// Sends a request and waits for the whole answer.
    pub(super) async fn ask(&mut self, message: Message<'_>, body: &mut Vec<u8>) -> Result<String, Fault> {
        body.clear();
        let sink = &mut |part: &[u8]| {
            body.extend_from_slice(part);
            Ok(())
        };
        self.stream(message, sink).await
    }

    /// Sends a request and hands the answer's body on, part by part. The server's version, where it states one.
    pub(super) async fn stream(
        &mut self,
        message: Message<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<String, Fault> {
        self.ensure().await?;
        let mut request = Request::builder().method(message.method).uri(message.path);
        request = request
            .header(HOST, self.host.clone())
            .header("accept", HeaderValue::from_static(message.accept));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        if !message.content.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static(message.content));
        }
        if message.packed {
            request = request.header("content-encoding", HeaderValue::from_static("gzip"));
        }
        let request = request.body(Full::new(message.body)).map_err(|error| garbled(&error.to_string()))?;
        // What is given up on its way leaves no connection behind.
        let Some((mut sender, mut wire)) = self.live.take() else {
            return Err(garbled("there is no connection").into());
        };
        let mut wrong = Vec::new();
        let head = exchange(&mut sender, &mut wire, request, sink, &mut wrong).await?;
        self.live = Some((sender, wire));
        if (200..300).contains(&head.status) {
            return Ok(head.version.unwrap_or_default());
        }
        Err(refused(head.status, &head.sentence.unwrap_or_else(|| sentence(&wrong))))
    }
}

async fn connect(options: &Options) -> Result<(SendRequest<Full<Bytes>>, Wire), StoreError> {
    let stream = TcpStream::connect((options.host.as_str(), options.port)).await.map_err(not_connected)?;
    stream.set_nodelay(true).map_err(not_connected)?;
    let stream: Box<dyn Stream> =
        if options.encrypted { Box::new(encrypted(options, stream).await?) } else { Box::new(stream) };
    let connected = http1::handshake(TokioIo::new(stream)).await;
    let (sender, wire) = connected.map_err(|error| broken(error).with_doubt(false))?;
    Ok((sender, Some(Box::pin(wire))))
}

async fn encrypted(
    options: &Options,
    stream: TcpStream,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, StoreError> {
    let failed = |text: String| StoreError::new(ErrorKind::Configuration, "prepare TLS for InfluxDB", text);
    let verifier = tls::verifier(options.authorities.as_deref(), "tls_ca").map_err(failed)?;
    let config = tls::configuration(verifier).map_err(failed)?;
    let name = ServerName::try_from(options.host.clone())
        .map_err(|_| failed("the host's name cannot be in a certificate".to_owned()))?;
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(not_connected)
}

/// One request and its answer; the body of a refusal goes elsewhere.
async fn exchange(
    sender: &mut SendRequest<Full<Bytes>>,
    wire: &mut Wire,
    request: Request<Full<Bytes>>,
    sink: &mut Sink<'_>,
    wrong: &mut Vec<u8>,
) -> Result<Head, Fault> {
    drive(wire, sender.ready()).await.map_err(broken)?;
    let answer = drive(wire, sender.send_request(request)).await.map_err(broken)?;
    let text = |name: &str| {
        let value = answer.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let status = answer.status();
    let head = Head {
        status: status.as_u16(),
        version: text("x-influxdb-version"),
        sentence: text("x-influxdb-error"),
    };
    let mut body = answer.into_body();
    while let Some(frame) = drive(wire, body.frame()).await {
        match frame.map_err(broken)?.data_ref() {
            Some(part) if status.is_success() => sink(part)?,
            Some(part) => wrong.extend_from_slice(part),
            None => {}
        }
    }
    Ok(head)
}

/// Runs a future to its end while the connection does the input and output for it.
async fn drive<T>(wire: &mut Wire, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        if let Poll::Ready(result) = future.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        if wire.as_mut().is_some_and(|wire| wire.as_mut().poll(context).is_ready()) {
            *wire = None;
        }
        future.as_mut().poll(context)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_was_not_made_means_what_the_kit_says_and_leaves_no_doubt() {
        for (cause, kind) in [
            (io::ErrorKind::ConnectionRefused, ErrorKind::Unavailable),
            (io::ErrorKind::AddrNotAvailable, ErrorKind::Unavailable),
            (io::ErrorKind::TimedOut, ErrorKind::Timeout),
            (io::ErrorKind::OutOfMemory, ErrorKind::Overload),
        ] {
            let error = not_connected(cause.into());
            assert_eq!(error.kind(), kind, "{cause}");
            assert!(!error.is_in_doubt(), "{cause}");
        }
    }

    #[test]
    fn sentences_are_found_in_json() {
        assert_eq!(sentence(b"{\"error\":\"timeout\"}\n"), "timeout");
        assert_eq!(sentence(b"\x81\xa5error\xa7timeout"), "timeout");
        assert_eq!(sentence(b"{\"code\":\"not found\",\"message\":\"no org\"}"), "no org");
        assert_eq!(sentence(b"Bad Gateway"), "Bad Gateway");
    }
}
