//! The connection that sends lines, over HTTP/1.1. It knows neither tables nor layouts.
//!
//! A connection that broke is made anew for the next request. Lines over HTTP: <https://questdb.com/docs/reference/api/ilp/overview/>.

use crate::config::Options;
use crate::error::{broken, not_connected, not_in_time, refused};
use crate::write_size::PIECE_BYTES;
use bytes::Bytes;
use futures_util::future::{Either as Sooner, select};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use sensormark_store::{ErrorKind, StoreError};
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// What waits to be sent, at most: two pieces. More would only be held.
const BUFFER_BYTES: usize = 2 * PIECE_BYTES;
const CONNECT: &str = "connect to QuestDB over HTTP";

/// A client's connection.
pub(crate) struct Link {
    address: (String, u16),
    authorization: Option<HeaderValue>,
    host: HeaderValue,
    timeout: Duration,
    live: Option<Live>,
}

/// The lines of a request: all at once, or piece by piece, in HTTP's chunked encoding.
type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// What sends requests, and the task that does its input and output.
struct Live {
    sender: SendRequest<Body>,
    task: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link {
    /// Connects within the time allowed.
    pub(crate) async fn open(options: &Options, timeout: Duration) -> Result<Self, StoreError> {
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
        let mut link = Self {
            host: header(&format!("{}:{}", options.host, options.http_port))?,
            address: (options.host.clone(), options.http_port),
            authorization,
            timeout,
            live: None,
        };
        link.ensure().await?;
        Ok(link)
    }

    async fn ensure(&mut self) -> Result<(), StoreError> {
        if self.live.as_ref().is_some_and(|live| !live.sender.is_closed()) {
            return Ok(());
        }
        self.live = None;
        let (host, port) = (self.address.0.as_str(), self.address.1);
        let connecting = async {
            let stream = TcpStream::connect((host, port)).await.map_err(not_connected)?;
            stream.set_nodelay(true).map_err(not_connected)?;
            let (sender, connection) = http1::Builder::new()
                .max_buf_size(BUFFER_BYTES)
                .handshake(TokioIo::new(stream))
                .await
                .map_err(|error| broken(CONNECT, error).with_doubt(false))?;
            let task = tokio::spawn(async move {
                // The request that meets the failure reports it.
                let _ = connection.await;
            });
            Ok(Live { sender, task })
        };
        match tokio::time::timeout(self.timeout, connecting).await {
            Ok(live) => self.live = Some(live?),
            Err(_) => return Err(not_in_time(CONNECT, self.timeout).with_doubt(false)),
        }
        Ok(())
    }

    /// Sends lines as one request, which is one transaction of their table, and waits until they are committed. Each piece is made when there is room for it.
    pub(crate) async fn post(
        &mut self,
        operation: &str,
        mut pieces: impl Iterator<Item = Bytes>,
    ) -> Result<(), StoreError> {
        self.ensure().await?;
        let first = pieces.next().unwrap_or_default();
        let Some(second) = pieces.next() else {
            let body = Either::Left(Full::new(first));
            return self.exchange(operation, body, async { true }).await;
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
        self.exchange(operation, Either::Right(body), feeding).await
    }

    /// Sends a request while its body is fed, and waits for the answer. `feeding` says whether all was taken.
    async fn exchange(
        &mut self,
        operation: &str,
        body: Body,
        feeding: impl Future<Output = bool>,
    ) -> Result<(), StoreError> {
        let mut request =
            Request::builder().method(Method::POST).uri("/write?precision=n").header(HOST, self.host.clone());
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let request = request.body(body).map_err(|error| {
            StoreError::new(ErrorKind::Protocol, operation, error.to_string()).with_doubt(false)
        })?;
        let Some(live) = &mut self.live else {
            let text = "there is no connection; connect again";
            return Err(StoreError::new(ErrorKind::Unavailable, operation, text));
        };
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
        let exchanged = tokio::time::timeout(self.timeout, exchange).await;
        if matches!(&exchanged, Ok(Ok((status, _, true))) if status.is_success()) {
            return Ok(());
        }
        // The server may close after a refusal, so the next request has a connection of its own.
        self.live = None;
        Err(match exchanged {
            Ok(Ok((status, body, _))) => refused(operation, status.as_u16(), &body),
            Ok(Err(error)) => broken(operation, error),
            Err(_) => not_in_time(operation, self.timeout),
        })
    }
}
