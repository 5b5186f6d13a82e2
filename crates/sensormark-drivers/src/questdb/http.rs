//! The connection that sends lines, over HTTP/1.1. It knows no tables.
//!
//! A connection that broke is made anew for the next request. Lines over HTTP: <https://questdb.com/docs/reference/api/ilp/overview/>.

use super::lines::PIECE_BYTES;
use super::url::Options;
use crate::Fault;
use bytes::Bytes;
use futures_util::future::{Either as Sooner, select};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;
use std::pin::pin;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// What waits to be sent, at most: two pieces. More would only be held.
const BUFFER_BYTES: usize = 2 * PIECE_BYTES;
const CONNECT: &str = "connect to QuestDB over HTTP";
const OPERATION: &str = "write lines to QuestDB";

/// A client's connection.
pub(super) struct Link {
    address: (String, u16),
    host: HeaderValue,
    authorization: Option<HeaderValue>,
    live: Option<Live>,
}

/// The lines of a request: all at once, or piece by piece, in HTTP's chunked encoding.
type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// What sends requests, and the task that does its input and output.
pub(super) struct Live {
    sender: SendRequest<Body>,
    task: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn not_connected(cause: io::Error) -> StoreError {
    let (kind, _, advice) = io_error::meaning(cause.kind()).unwrap_or((
        ErrorKind::Unavailable,
        false,
        "check that the server runs, then connect again",
    ));
    StoreError::new(kind, CONNECT, format!("{cause}; {advice}")).with_doubt(false).with_source(cause)
}

fn broken(error: hyper::Error) -> StoreError {
    let text = format!("{error}; look into the server's log and connect again");
    StoreError::new(ErrorKind::Unavailable, OPERATION, text).with_source(error)
}

/// What the server says of lines that it refused.
fn refused(status: StatusCode, body: &[u8]) -> Fault {
    let told: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = told.as_ref().and_then(|told| told.get("message")?.as_str());
    let message = message.map_or_else(|| String::from_utf8_lossy(body).trim().to_owned(), str::to_owned);
    let code = status.as_str();
    Fault::Refused {
        codes: vec![code.to_owned(), format!("{}xx", &code[..1])],
        text: format!("{message} (HTTP {code})"),
        source: message.into(),
    }
}

impl Link {
    /// It connects when something is to be sent, or when [`Link::live`] is asked for before.
    pub(super) fn new(options: &Options) -> Result<Self, StoreError> {
        let header = |text: &str| {
            let advice = "host, user or password hold characters that HTTP does not allow; correct the URL";
            HeaderValue::from_str(text)
                .map_err(|_| StoreError::new(ErrorKind::Configuration, CONNECT, advice))
        };
        let secret = options.authorization.as_ref();
        let mut authorization = secret.map(|secret| header(secret.expose())).transpose()?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let address = options.http.clone();
        let host = header(&format!("{}:{}", address.0, address.1))?;
        Ok(Self { address, host, authorization, live: None })
    }

    /// What sends, connected anew where it has to be.
    pub(super) async fn live(&mut self) -> Result<&mut Live, StoreError> {
        let live = match self.live.take().filter(|live| !live.sender.is_closed()) {
            Some(live) => live,
            None => {
                let address = (self.address.0.as_str(), self.address.1);
                let stream = TcpStream::connect(address).await.map_err(not_connected)?;
                stream.set_nodelay(true).map_err(not_connected)?;
                let mut builder = http1::Builder::new();
                builder.max_buf_size(BUFFER_BYTES);
                let connecting = builder.handshake(TokioIo::new(stream)).await;
                let (sender, connection) = connecting.map_err(|error| broken(error).with_doubt(false))?;
                let task = tokio::spawn(async move {
                    // The request that meets the failure reports it.
                    let _ = connection.await;
                });
                Live { sender, task }
            }
        };
        Ok(self.live.insert(live))
    }

    /// Sends lines as one request, which is one transaction of their table, and waits until they are committed. Each piece is made when there is room for it.
    pub(super) async fn post(&mut self, mut pieces: impl Iterator<Item = Bytes>) -> Result<(), Fault> {
        let first = pieces.next().unwrap_or_default();
        let Some(second) = pieces.next() else {
            return self.exchange(Either::Left(Full::new(first)), async { true }).await;
        };
        let (mut sender, body) = Channel::new(1);
        let feeding = async move {
            for piece in [first, second].into_iter().chain(pieces) {
                if sender.send_data(piece).await.is_err() {
                    return false;
                }
            }
            drop(sender);
            true
        };
        self.exchange(Either::Right(body), feeding).await
    }

    /// Sends a request while its body is fed, and waits for the answer. `feeding` says whether all was taken.
    async fn exchange(&mut self, body: Body, feeding: impl Future<Output = bool>) -> Result<(), Fault> {
        let mut request = Request::post("/write?precision=n").header(HOST, self.host.clone());
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let unclear = |error: hyper::http::Error| {
            StoreError::new(ErrorKind::Protocol, OPERATION, error.to_string()).with_doubt(false)
        };
        let request = request.body(body).map_err(unclear)?;
        let live = self.live().await?;
        let exchange = async {
            live.sender.ready().await?;
            let answering = async {
                let answer = live.sender.send_request(request).await?;
                let status = answer.status();
                let body = answer.into_body().collect().await?.to_bytes();
                Ok::<_, hyper::Error>((status, body))
            };
            // A server that answers before it has all lines has refused them.
            let (answer, is_whole) = match select(pin!(answering), pin!(feeding)).await {
                Sooner::Left((answer, _)) => (answer, false),
                Sooner::Right((is_whole, answering)) => (answering.await, is_whole),
            };
            answer.map(|(status, body)| (status, body, is_whole))
        };
        let exchanged = exchange.await;
        if matches!(&exchanged, Ok((status, _, true)) if status.is_success()) {
            return Ok(());
        }
        // The server may close after a refusal, so the next request has a connection of its own.
        self.live = None;
        let (status, body, _) = exchanged.map_err(broken)?;
        Err(refused(status, &body))
    }
}
