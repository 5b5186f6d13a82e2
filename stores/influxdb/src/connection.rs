//! One connection of HTTP/1.1, driven in line with what waits for it.
//!
//! hyper splits a connection into a sender of requests and a connection that does the input and output. Both are polled by
//! the task that asks, so that a request costs no change of tasks. A connection that broke is made anew for the next
//! request. It knows paths and bodies, but neither tables nor languages.

use crate::config::Options;
use crate::error::{broken, garbled, not_connected, refused, sentence, timed_out};
use crate::paths;
use crate::sent::Kept;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use sensormark_kit::tls;
use sensormark_store::{ErrorKind, StoreError};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A stream of bytes to the server, through TLS or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What does the input and output; none once the connection has ended, which fails what still waits for it.
type Wire = Option<Pin<Box<Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>>>>;

/// A client's connection.
pub(crate) struct Link {
    options: Options,
    authorization: Option<HeaderValue>,
    host: HeaderValue,
    timeout: Duration,
    live: Option<(SendRequest<Full<Bytes>>, Wire)>,
    /// The latest answer's body; its memory is used again.
    body: Vec<u8>,
    /// What was sent, where statements are shown.
    pub(crate) kept: Kept,
}

/// What is sent.
pub(crate) struct Message<'a> {
    /// What is being done. Messages of errors name it.
    pub(crate) operation: &'a str,
    /// GET, POST or DELETE.
    pub(crate) method: Method,
    /// Path and question.
    pub(crate) path: &'a str,
    /// The form in which answers are wanted.
    pub(crate) accept: &'static str,
    /// What the body is.
    pub(crate) content: &'static str,
    /// Whether the body is packed by gzip.
    pub(crate) packed: bool,
    /// The body.
    pub(crate) body: Bytes,
}

impl<'a> Message<'a> {
    /// A request without a body.
    pub(crate) const fn get(operation: &'a str, path: &'a str) -> Self {
        Self {
            operation,
            method: Method::GET,
            path,
            accept: "application/json",
            content: "",
            packed: false,
            body: Bytes::new(),
        }
    }

    /// A request to delete what the path names.
    pub(crate) fn delete(operation: &'a str, path: &'a str) -> Self {
        Self { method: Method::DELETE, ..Self::get(operation, path) }
    }

    /// A request with a body.
    pub(crate) const fn post(operation: &'a str, path: &'a str, content: &'static str, body: Bytes) -> Self {
        Self {
            operation,
            method: Method::POST,
            path,
            accept: "application/json",
            content,
            packed: false,
            body,
        }
    }
}

/// An answer's head.
#[derive(Debug)]
pub(crate) struct Head {
    /// The status of HTTP.
    pub(crate) status: u16,
    /// The server's version, where it states one.
    pub(crate) version: Option<String>,
    /// The sentence that says what is wrong, where the server says so in a header.
    pub(crate) sentence: Option<String>,
}

impl Head {
    const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

impl Link {
    /// The organisation of an InfluxDB 2.
    pub(crate) fn organisation(&self) -> Option<&str> {
        self.options.organisation.as_deref()
    }

    /// The one database that is to be used, where the URL names it.
    pub(crate) fn given(&self) -> Option<&str> {
        self.options.given.as_deref()
    }

    /// Where lines of points of this database go.
    pub(crate) fn write_path(&self, database: &str) -> String {
        paths::write(self.organisation(), database)
    }

    /// Where scripts of Flux go.
    pub(crate) fn flux_path(&self) -> String {
        paths::flux(self.organisation())
    }

    /// What Flux calls the database.
    pub(crate) fn bucket(&self, database: &str) -> String {
        paths::bucket(self.organisation(), database)
    }

    /// Connects within the time allowed.
    pub(crate) async fn open(options: &Options, timeout: Duration) -> Result<Self, StoreError> {
        let header = |text: &str| {
            HeaderValue::from_str(text).map_err(|_| {
                StoreError::new(
                    ErrorKind::Configuration,
                    "connect to InfluxDB",
                    "host, user or token hold characters that HTTP does not allow; correct the URL",
                )
            })
        };
        let mut authorization = None;
        if let Some(secret) = &options.authorization {
            let mut value = header(secret.expose())?;
            value.set_sensitive(true);
            authorization = Some(value);
        }
        let host = if options.host.contains(':') {
            format!("[{}]:{}", options.host, options.port)
        } else {
            format!("{}:{}", options.host, options.port)
        };
        let mut link = Self {
            options: options.clone(),
            authorization,
            host: header(&host)?,
            timeout,
            live: None,
            body: Vec::new(),
            kept: Kept::default(),
        };
        link.ensure().await?;
        Ok(link)
    }

    /// Does without user and password from now on, because nobody has either before the first user is made.
    pub(crate) fn forget_user(&mut self) {
        self.authorization = None;
    }

    /// Waits as long as this for each answer from now on.
    pub(crate) const fn allow(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// The latest answer's body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    async fn ensure(&mut self) -> Result<(), StoreError> {
        if self.live.as_ref().is_some_and(|(sender, wire)| wire.is_some() && !sender.is_closed()) {
            return Ok(());
        }
        self.live = None;
        let connecting = connect(&self.options);
        match tokio::time::timeout(self.timeout, connecting).await {
            Ok(live) => self.live = Some(live?),
            Err(_) => {
                return Err(timed_out("connect to InfluxDB", self.timeout.as_millis()).with_doubt(false));
            }
        }
        Ok(())
    }

    /// Sends a request and waits for the whole answer, whatever its status.
    pub(crate) async fn ask(&mut self, message: Message<'_>) -> Result<Head, StoreError> {
        self.body.clear();
        let mut body = std::mem::take(&mut self.body);
        let head = self
            .stream(message, &mut |part| {
                body.extend_from_slice(part);
                Ok(())
            })
            .await;
        self.body = body;
        head
    }

    /// Sends a request and waits for the whole answer; what is not a success is an error.
    pub(crate) async fn demand(&mut self, message: Message<'_>) -> Result<Head, StoreError> {
        let operation = message.operation.to_owned();
        let head = self.ask(message).await?;
        if head.is_success() {
            return Ok(head);
        }
        Err(self.refusal(&operation, &head))
    }

    fn refusal(&self, operation: &str, head: &Head) -> StoreError {
        let text = || sentence(&self.body);
        refused(operation, head.status, &head.sentence.clone().unwrap_or_else(text))
    }

    /// Sends a request and hands the answer's body on, part by part.
    pub(crate) async fn stream(
        &mut self,
        message: Message<'_>,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        self.ensure().await?;
        let operation = message.operation;
        let request = self.request(&message)?;
        drop(message);
        let Some((sender, wire)) = &mut self.live else {
            return Err(garbled(operation, "there is no connection"));
        };
        let exchange = exchange(operation, sender, wire, request, sink);
        let result = match tokio::time::timeout(self.timeout, exchange).await {
            Ok(result) => result,
            Err(_) => Err(timed_out(operation, self.timeout.as_millis())),
        };
        if result.is_err() {
            self.live = None;
        }
        result
    }

    fn request(&self, message: &Message<'_>) -> Result<Request<Full<Bytes>>, StoreError> {
        let mut request = Request::builder()
            .method(message.method.clone())
            .uri(message.path)
            .header(HOST, self.host.clone())
            .header("accept", HeaderValue::from_static(message.accept));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        if !message.content.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static(message.content));
        }
        if message.packed {
            request = request.header(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        request
            .body(Full::new(message.body.clone()))
            .map_err(|error| garbled(message.operation, &error.to_string()))
    }

    /// Ends the connection.
    pub(crate) fn close(self) {}
}

async fn connect(options: &Options) -> Result<(SendRequest<Full<Bytes>>, Wire), StoreError> {
    let address = (options.host.as_str(), options.port);
    let stream = TcpStream::connect(address).await.map_err(not_connected)?;
    stream.set_nodelay(true).map_err(not_connected)?;
    let stream: Box<dyn Stream> =
        if options.encrypted { Box::new(encrypted(options, stream).await?) } else { Box::new(stream) };
    let (sender, wire) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken("connect to InfluxDB", error).with_doubt(false))?;
    Ok((sender, Some(Box::pin(wire))))
}

async fn encrypted(
    options: &Options,
    stream: TcpStream,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, StoreError> {
    let failed = |text: String| StoreError::new(ErrorKind::Configuration, "prepare TLS for InfluxDB", text);
    let file = options.authorities.as_deref();
    let verifier = tls::verifier(file, "tls_ca").map_err(failed)?;
    let config = tls::configuration(verifier).map_err(failed)?;
    let name = ServerName::try_from(options.host.clone())
        .map_err(|_| failed("the host's name cannot be in a certificate".to_owned()))?;
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(not_connected)
}

/// One request and its answer.
async fn exchange(
    operation: &str,
    sender: &mut SendRequest<Full<Bytes>>,
    wire: &mut Wire,
    request: Request<Full<Bytes>>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<Head, StoreError> {
    let failed = |error| broken(operation, error);
    drive(wire, sender.ready()).await.map_err(failed)?;
    let answer = drive(wire, sender.send_request(request)).await.map_err(failed)?;
    let text = |name: &str| {
        let value = answer.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let head = Head {
        status: answer.status().as_u16(),
        version: text("x-influxdb-version"),
        sentence: text("x-influxdb-error"),
    };
    let mut body = answer.into_body();
    while let Some(frame) = drive(wire, body.frame()).await {
        if let Some(part) = frame.map_err(failed)?.data_ref() {
            sink(part)?;
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
