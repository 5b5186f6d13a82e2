//! Writing: columns become lines of points in one buffer, which goes out as HTTP bodies or datagrams.
//!
//! The lines themselves are [`sensormark_store::lines`].

use crate::connection::{Link, Message};
use crate::error::not_connected;
use crate::query::Reader;
use crate::schema::{PhysicalSchema, check_length, field_key};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sensormark_store::lines::put_quoted;
use sensormark_store::text::Page;
use sensormark_store::wire::DatagramPath;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, EntityReading, ErrorKind, Layout, Limits, StoreError, Table, Value,
    WriteMethod,
};
use std::collections::HashSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use tokio::net::UdpSocket;

/// A request's body is closed when it holds this many bytes: under the 25 MB that InfluxDB takes as it comes.
const BODY_BYTES: usize = 24_000_000;

/// The most readings in one request.
const REQUEST_READINGS: usize = 50_000;

/// A datagram is closed before it would hold more bytes than this.
const DATAGRAM_BYTES: usize = 8 << 10;

/// The most bytes that UDP carries over IPv4.
const DATAGRAM_LIMIT: usize = 65_507;

/// The largest statements.
pub(crate) fn limits(layout: &Layout, _: &Table) -> Limits {
    let readings = if layout.write == WriteMethod::Datagram { DATAGRAM_LIMIT / 8 } else { REQUEST_READINGS };
    Limits { readings_per_statement: readings }
}

/// A session's means of writing.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    path: String,
    /// What is being written, until it is sent.
    buffer: Option<Lent>,
    packed: Vec<u8>,
    /// The socket of datagrams, and the way that they take.
    socket: Option<(UdpSocket, DatagramPath)>,
    /// Bytes sent by it, headers included.
    pub(crate) datagram_bytes: u64,
    /// Series whose entities are known to be there, by table.
    known: HashSet<(usize, u32)>,
}

/// Buffers that nobody writes into or sends now. All sessions of the process share them. A session that waits for its answer holds none.
static SPARE: Mutex<Vec<Page>> = Mutex::new(Vec::new());

/// So many are kept; large ones are some MB each.
const MOST_SPARE: usize = 16;

/// A buffer for one request's lines, given back when they are sent.
#[derive(Debug)]
struct Lent(Page);

impl Lent {
    /// An empty buffer.
    fn new() -> Self {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        Self(spare.pop().unwrap_or_default())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut page = std::mem::take(&mut self.0);
        page.clear();
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(page);
        }
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.written()
    }
}

impl Outlet {
    /// The means of writing by requests to this path.
    pub(crate) fn new(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Opens the socket of datagrams.
    pub(crate) async fn open_socket(&mut self, host: &str, port: u16) -> Result<(), StoreError> {
        let local = if host.contains(':') { "[::]:0" } else { "0.0.0.0:0" };
        let socket = UdpSocket::bind(local).await.map_err(not_connected)?;
        socket.connect((host, port)).await.map_err(not_connected)?;
        let peer = socket.peer_addr().map_err(not_connected)?.ip();
        let path = DatagramPath::of(&socket, peer);
        self.socket = Some((socket, path));
        Ok(())
    }

    fn buffer(&mut self) -> &mut Page {
        let buffer = &mut self.buffer.get_or_insert_with(Lent::new).0;
        buffer.clear();
        buffer
    }
}

/// What writes a session's batches.
pub(crate) struct Writer<'a> {
    pub(crate) link: &'a mut Link,
    pub(crate) outlet: &'a mut Outlet,
    pub(crate) physical: &'a PhysicalSchema,
    pub(crate) database: &'a str,
}

impl Writer<'_> {
    /// Writes a batch.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        if self.outlet.socket.is_some() {
            return self.send(batch).await;
        }
        let measurement = &self.physical.tables[batch.table];
        let mut done = Acknowledgement::default();
        let mut lines = measurement.lines.of(batch);
        let mut row = 0;
        while row < batch.len() {
            let start = row;
            let buffer = self.outlet.buffer();
            while row < batch.len() && row - start < REQUEST_READINGS && buffer.len() < BODY_BYTES {
                lines.put(row, measurement.head(batch.series[row]), buffer);
                row += 1;
            }
            check_length(measurement.head(batch.series[start]))?;
            self.post("write a batch").await.map_err(|error| error.after_acknowledging(done.readings))?;
            done.readings += (row - start) as u64;
            done.sent = done.readings;
            done.statements += 1;
        }
        Ok(done)
    }

    /// Sends the buffer as one request.
    async fn post(&mut self, operation: &str) -> Result<(), StoreError> {
        let packs = self.physical.layout.write == WriteMethod::FastPath;
        let lines = self.outlet.buffer.take().unwrap_or_else(Lent::new);
        let means = if packs { ", packed by gzip" } else { "" };
        self.link.kept.note_lines(lines.as_ref(), means);
        let body = if packs {
            self.outlet.packed.clear();
            let mut encoder = GzEncoder::new(std::mem::take(&mut self.outlet.packed), Compression::fast());
            let written = encoder.write_all(lines.as_ref()).and_then(|()| encoder.finish());
            let packed = written.map_err(|error| {
                StoreError::new(ErrorKind::Rejected, operation, format!("gzip fails: {error}"))
            })?;
            Bytes::from(packed)
        } else {
            Bytes::from_owner(lines)
        };
        let message = Message {
            packed: packs,
            ..Message::post(operation, &self.outlet.path, "text/plain; charset=utf-8", body)
        };
        self.link.demand(message).await.map(|_| ())
    }

    /// Sends a batch in datagrams: one a reading where there is one, else as many lines as fit.
    async fn send(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let measurement = &self.physical.tables[batch.table];
        let mut done = Acknowledgement::default();
        let mut ends = Vec::with_capacity(batch.len());
        let mut lent = self.outlet.buffer.take().unwrap_or_else(Lent::new);
        let buffer = &mut lent.0;
        buffer.clear();
        let mut lines = measurement.lines.of(batch);
        for row in 0..batch.len() {
            let start = buffer.len();
            lines.put(row, measurement.head(batch.series[row]), buffer);
            // Before anything is sent, so that a refused batch leaves nothing behind.
            if buffer.len() - start > DATAGRAM_LIMIT {
                return Err(too_large(buffer.len() - start));
            }
            ends.push(buffer.len());
        }
        let mut start = 0;
        for (row, &end) in ends.iter().enumerate() {
            let last = row + 1 == ends.len();
            if !last && ends[row + 1] - start <= DATAGRAM_BYTES {
                continue;
            }
            let datagram = &lent.as_ref()[start..end];
            let (socket, path) = self.outlet.socket.as_ref().expect("only layouts with a socket come here");
            self.link.kept.note_lines(datagram, ", as a datagram");
            let sent = socket.send(datagram).await.map_err(lost)?;
            self.outlet.datagram_bytes += path.bytes(sent as u64);
            done.statements += 1;
            start = end;
        }
        done.sent = batch.len() as u64;
        Ok(done)
    }

    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let table = &self.physical.schema.tables[write.reading.table];
        let Some(entity) = &table.entity else {
            return Err(StoreError::unsupported("upsert", "the table has no entity"));
        };
        if write.atomicity == Atomicity::Atomic {
            return Err(StoreError::unsupported(
                "upsert in one commit",
                "InfluxDB has no transactions; choose two commits",
            ));
        }
        let number = write.reading.table;
        let series = write.reading.series[0];
        let is_known = self.outlet.known.contains(&(number, series)) || self.is_there(number, series).await?;
        let measurement = &self.physical.tables[number];
        let last = field_key(&entity.last_time_column);
        let buffer = self.outlet.buffer();
        buffer.put(measurement.entity_head(series));
        buffer.put(format!("{last}={}i", write.reading.times_ns[0]).as_bytes());
        if !is_known {
            for (column, value) in entity.columns.iter().zip(write.entity) {
                entity_field(buffer, &field_key(&column.name), value);
            }
        }
        buffer.put(b" 0\n");
        self.post("update an entity").await?;
        self.outlet.known.insert((number, series));
        let mut done = self.write(write.reading).await?;
        done.statements += 1;
        Ok(done)
    }

    async fn is_there(&mut self, table: usize, series: u32) -> Result<bool, StoreError> {
        let mut reader = Reader { link: self.link, physical: self.physical, database: self.database };
        reader.has_entity(table, series).await
    }
}

fn too_large(bytes: usize) -> StoreError {
    StoreError::new(
        ErrorKind::TooLarge,
        "send a datagram",
        format!("a reading takes {bytes} bytes, a datagram holds {DATAGRAM_LIMIT}; write it over HTTP"),
    )
}

fn lost(error: std::io::Error) -> StoreError {
    let refused = error.kind() == std::io::ErrorKind::ConnectionRefused;
    let advice = if refused {
        "nobody listens for datagrams there; turn the listener of UDP on in the server's configuration"
    } else {
        "the datagram cannot be sent; look at the network"
    };
    StoreError::new(ErrorKind::Unavailable, "send a datagram", format!("{advice} ({error})"))
        .with_source(error)
}

fn entity_field(buffer: &mut Page, name: &str, field: &Value) {
    if *field == Value::Null {
        return;
    }
    buffer.put_byte(b',');
    buffer.put(name.as_bytes());
    buffer.put_byte(b'=');
    match field {
        Value::Null => {}
        Value::Bool(value) => buffer.put(if *value { b"t" } else { b"f" }),
        Value::I64(value) => {
            buffer.put_integer(*value);
            buffer.put_byte(b'i');
        }
        Value::F64(value) => buffer.put_float(*value),
        Value::Text(value) => put_quoted(value, buffer),
    }
}

/// The line of the owner's mark.
pub(crate) fn mark_line(owner: &str, database: &str) -> Vec<u8> {
    let mut line = Page::default();
    line.put(crate::schema::OWNER.as_bytes());
    line.put(b" mark=");
    put_quoted(owner, &mut line);
    line.put(b",name=");
    put_quoted(database, &mut line);
    line.put(b" 0\n");
    line.written().to_vec()
}
