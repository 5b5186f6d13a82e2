//! Blocks of rows as bodies of requests, as they are or packed by gzip, or as datagrams. The lines themselves are [`crate::lines`]'s.

use super::http::{Message, garbled};
use super::{Session, escaped};
use crate::lines::{Dialect, Outlet, Writing};
use crate::{Block, Cell, Fault, Shared, pieces};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sensormark_store::lines::put_quoted;
use sensormark_store::text::Page;
use sensormark_store::wire::DatagramPath;
use sensormark_store::{ErrorKind, StoreError};
use std::io::{self, Write};
use std::sync::LazyLock;
use tokio::net::UdpSocket;

/// All sessions of the process share their buffers: one that waits for its answer holds none.
static OUTLET: LazyLock<Outlet> = LazyLock::new(Outlet::default);
/// A datagram is closed before it would hold more bytes than this.
const DATAGRAM_BYTES: usize = 8 << 10;
/// The most bytes that UDP carries over IPv4.
const DATAGRAM_LIMIT: usize = 65_507;
const OPERATION: &str = "send a datagram";

fn lost(error: io::Error) -> StoreError {
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "nobody listens for datagrams there; turn the listener of UDP on in the server's configuration"
        }
        _ => "the datagram cannot be sent; look at the network",
    };
    StoreError::new(ErrorKind::Unavailable, OPERATION, format!("{advice} ({error})")).with_source(error)
}

/// An `INSERT` with its values, which are texts.
pub(super) fn with_texts(text: &str, cells: &[Cell<'_>]) -> String {
    let mut page = Page::default();
    for (slot, piece) in pieces(text) {
        if let Some(Cell::Text(value)) = slot.and_then(|slot| cells.get(slot)) {
            put_quoted(value, &mut page);
        }
        page.put(piece.as_bytes());
    }
    String::from_utf8_lossy(page.written()).into_owned()
}

fn dialect(encoder: &str) -> Dialect {
    Dialect::Influxdb { float_fields: encoder.ends_with("floats") }
}

impl Session {
    /// Writes the line of an `INSERT`.
    pub(super) async fn insert(&mut self, text: &str) -> Result<Vec<Vec<String>>, Fault> {
        let line = text.trim_start_matches("INSERT ").to_owned();
        self.post(Bytes::from(line), false).await.map(|()| Vec::new())
    }

    async fn post(&mut self, body: Bytes, packed: bool) -> Result<(), Fault> {
        let path = match &self.link.options.organisation {
            None => format!("/write?db={}&precision=ns", self.database),
            Some(name) => {
                format!("/api/v2/write?org={}&bucket={}&precision=ns", escaped(name), self.database)
            }
        };
        let message = Message { packed, ..Message::post(&path, "text/plain; charset=utf-8", body) };
        self.link.ask(message, &mut self.body).await.map(drop)
    }

    /// Writes a block as one request, or as datagrams; how many there were.
    pub(super) async fn write_lines(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let (own, mut page) = (Shared::new(), OUTLET.page());
        let text = &self.statements[block.statement.0].text;
        let mut writing = Writing::new(dialect(block.encoder), text, block.rows, &own)?;
        if block.encoder.starts_with("datagrams") {
            let mut ends = Vec::with_capacity(block.rows.len());
            while !writing.is_done() {
                writing.put_row(&mut page.0);
                ends.push(page.0.len());
            }
            return self.send(page.as_ref(), &ends).await;
        }
        while !writing.is_done() {
            writing.put_row(&mut page.0);
        }
        if block.encoder != "gzip" {
            return self.post(Bytes::from_owner(page), false).await.map(|()| 1);
        }
        self.packed.clear();
        let mut encoder = GzEncoder::new(std::mem::take(&mut self.packed), Compression::fast());
        let packed = encoder.write_all(page.as_ref()).and_then(|()| encoder.finish());
        let packed = packed.map_err(|error| garbled(&format!("gzip fails: {error}")))?;
        self.post(Bytes::from(packed), true).await.map(|()| 1)
    }

    /// Sends lines that end there in datagrams: one a reading where there is one, else as many lines as fit.
    async fn send(&mut self, lines: &[u8], ends: &[usize]) -> Result<u64, Fault> {
        let mut start = 0;
        // Before anything is sent, so that a refused batch leaves nothing behind.
        for &end in ends {
            if end - start > DATAGRAM_LIMIT {
                let text = format!(
                    "a reading takes {} bytes, a datagram holds {DATAGRAM_LIMIT}; write it over HTTP",
                    end - start
                );
                return Err(StoreError::new(ErrorKind::TooLarge, OPERATION, text).with_doubt(false).into());
            }
            start = end;
        }
        let (mut start, mut sent) = (0, 0);
        for (row, &end) in ends.iter().enumerate() {
            if ends.get(row + 1).is_some_and(|next| next - start <= DATAGRAM_BYTES) {
                continue;
            }
            let (socket, path) = self.socket().await?;
            let bytes = socket.send(&lines[start..end]).await.map_err(lost)?;
            self.datagram_bytes += path.bytes(bytes as u64);
            sent += 1;
            start = end;
        }
        Ok(sent)
    }

    /// The socket of datagrams, and the way that they take.
    async fn socket(&mut self) -> Result<(&UdpSocket, DatagramPath), StoreError> {
        if self.socket.is_none() {
            let (host, port) = (self.link.options.host.as_str(), self.link.options.udp.unwrap_or_default());
            let local = if host.contains(':') { "[::]:0" } else { "0.0.0.0:0" };
            let socket = UdpSocket::bind(local).await.map_err(lost)?;
            socket.connect((host, port)).await.map_err(lost)?;
            let path = DatagramPath::of(&socket, socket.peer_addr().map_err(lost)?.ip());
            self.socket = Some((socket, path));
        }
        let (socket, path) = self.socket.as_ref().ok_or_else(|| garbled("there is no socket"))?;
        Ok((socket, *path))
    }

    /// The first lines of a block.
    pub(super) fn first_lines(&self, block: &Block<'_>) -> Option<String> {
        let text = &self.statements[block.statement.0].text;
        Some(Writing::new(dialect(block.encoder), text, block.rows, &Shared::new()).ok()?.shown())
    }
}
