//! Writing: columns become lines of points in one buffer, which goes out as HTTP bodies or datagrams.
//!
//! Nothing is allocated a value. The line protocol is InfluxDB's own: `measurement,tag=value field=1i,other=2.5 time`.

use crate::connection::{Link, Message};
use crate::error::not_connected;
use crate::query::Reader;
use crate::schema::{Measurement, Model, check_length, field_key};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Column, EntityReading, ErrorKind, Layout, Limits,
    StoreError, Table, Value, Values, WriteMethod,
};
use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// A request's body is closed when it holds this many bytes: under the 25 MB that InfluxDB takes as it comes.
const BODY_BYTES: usize = 16 << 20;

/// The most readings in one request.
const REQUEST_READINGS: usize = 50_000;

/// A datagram is closed before it would hold more bytes than this.
const DATAGRAM_BYTES: usize = 8 << 10;

/// The most bytes that UDP carries over IPv4.
const DATAGRAM_LIMIT: usize = 65_507;

/// The largest statements.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let fields = table.fields.len().max(1);
    let readings = if layout.write == WriteMethod::Datagram {
        DATAGRAM_LIMIT / 8
    } else {
        REQUEST_READINGS
    };
    Limits {
        readings_per_statement: readings,
        suggested_batch: (50_000 / fields).clamp(1_000, 10_000),
    }
}

/// A session's means of writing.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    path: String,
    buffer: Arc<Vec<u8>>,
    packed: Vec<u8>,
    /// The socket of datagrams.
    socket: Option<UdpSocket>,
    /// Bytes sent by it.
    pub(crate) datagram_bytes: u64,
    /// Series whose entities are known to be there, by table.
    known: HashSet<(usize, u32)>,
}

/// A buffer that is lent to a request and taken back when it is done.
struct Lent(Arc<Vec<u8>>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Outlet {
    /// The means of writing by requests to this path.
    pub(crate) fn new(path: String) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// Opens the socket of datagrams.
    pub(crate) async fn open_socket(&mut self, host: &str, port: u16) -> Result<(), StoreError> {
        let local = if host.contains(':') {
            "[::]:0"
        } else {
            "0.0.0.0:0"
        };
        let socket = UdpSocket::bind(local).await.map_err(not_connected)?;
        socket.connect((host, port)).await.map_err(not_connected)?;
        self.socket = Some(socket);
        Ok(())
    }

    fn buffer(&mut self) -> &mut Vec<u8> {
        if Arc::get_mut(&mut self.buffer).is_none() {
            self.buffer = Arc::default();
        }
        let buffer = Arc::get_mut(&mut self.buffer).expect("nobody else has the buffer");
        buffer.clear();
        buffer
    }
}

/// What writes a session's batches.
pub(crate) struct Writer<'a> {
    pub(crate) link: &'a mut Link,
    pub(crate) outlet: &'a mut Outlet,
    pub(crate) model: &'a Model,
    pub(crate) database: &'a str,
}

impl Writer<'_> {
    /// Writes a batch.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        if self.outlet.socket.is_some() {
            return self.send(batch).await;
        }
        let measurement = &self.model.tables[batch.table];
        let mut done = Acknowledgement::default();
        let mut row = 0;
        while row < batch.len() {
            let start = row;
            let buffer = self.outlet.buffer();
            while row < batch.len() && row - start < REQUEST_READINGS && buffer.len() < BODY_BYTES {
                line(buffer, measurement, batch, row);
                row += 1;
            }
            check_length(measurement.head(batch.series[start]))?;
            self.post("write a batch")
                .await
                .map_err(|error| error.after_acknowledging(done.readings))?;
            done.readings += (row - start) as u64;
            done.sent = done.readings;
            done.statements += 1;
        }
        Ok(done)
    }

    /// Sends the buffer as one request.
    async fn post(&mut self, operation: &str) -> Result<(), StoreError> {
        let packs = self.model.layout.write == WriteMethod::FastPath;
        let body = if packs {
            self.outlet.packed.clear();
            let mut encoder =
                GzEncoder::new(std::mem::take(&mut self.outlet.packed), Compression::fast());
            let written = encoder
                .write_all(&self.outlet.buffer)
                .and_then(|()| encoder.finish());
            let packed = written.map_err(|error| {
                StoreError::new(
                    ErrorKind::Rejected,
                    operation,
                    format!("gzip fails: {error}"),
                )
            })?;
            Bytes::from(packed)
        } else {
            Bytes::from_owner(Lent(Arc::clone(&self.outlet.buffer)))
        };
        let message = Message {
            packed: packs,
            ..Message::post(
                operation,
                &self.outlet.path,
                "text/plain; charset=utf-8",
                body,
            )
        };
        self.link.demand(message).await.map(|_| ())
    }

    /// Sends a batch in datagrams: one a reading where there is one, else as many lines as fit.
    async fn send(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let measurement = &self.model.tables[batch.table];
        let mut done = Acknowledgement::default();
        let mut ends = Vec::with_capacity(batch.len());
        let buffer = self.outlet.buffer();
        for row in 0..batch.len() {
            line(buffer, measurement, batch, row);
            ends.push(buffer.len());
        }
        let mut start = 0;
        for (row, &end) in ends.iter().enumerate() {
            let last = row + 1 == ends.len();
            if !last && ends[row + 1] - start <= DATAGRAM_BYTES {
                continue;
            }
            if end - start > DATAGRAM_LIMIT {
                return Err(too_large(end - start));
            }
            let datagram = &self.outlet.buffer[start..end];
            let socket = self
                .outlet
                .socket
                .as_ref()
                .expect("only layouts with a socket come here");
            let sent = socket.send(datagram).await.map_err(lost)?;
            self.outlet.datagram_bytes += sent as u64;
            done.statements += 1;
            start = end;
        }
        done.sent = batch.len() as u64;
        Ok(done)
    }

    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert(
        &mut self,
        write: EntityReading<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        let table = &self.model.schema.tables[write.reading.table];
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
        let is_known =
            self.outlet.known.contains(&(number, series)) || self.is_there(number, series).await?;
        let measurement = &self.model.tables[number];
        let last = field_key(&entity.last_time_column);
        let buffer = self.outlet.buffer();
        buffer.extend_from_slice(measurement.entity_head(series));
        buffer.extend_from_slice(format!("{last}={}i", write.reading.times_ns[0]).as_bytes());
        if !is_known {
            for (column, value) in entity.columns.iter().zip(write.entity) {
                entity_field(buffer, &field_key(&column.name), value);
            }
        }
        buffer.extend_from_slice(b" 0\n");
        self.post("update an entity").await?;
        self.outlet.known.insert((number, series));
        let mut done = self.write(write.reading).await?;
        done.statements += 1;
        Ok(done)
    }

    async fn is_there(&mut self, table: usize, series: u32) -> Result<bool, StoreError> {
        let mut reader = Reader {
            link: self.link,
            model: self.model,
            database: self.database,
        };
        reader.has_entity(table, series).await
    }
}

fn too_large(bytes: usize) -> StoreError {
    StoreError::new(
        ErrorKind::TooLarge,
        "send a datagram",
        format!(
            "a reading takes {bytes} bytes, a datagram holds {DATAGRAM_LIMIT}; write it over HTTP"
        ),
    )
}

fn lost(error: std::io::Error) -> StoreError {
    let refused = error.kind() == std::io::ErrorKind::ConnectionRefused;
    let advice = if refused {
        "nobody listens for datagrams there; turn the listener of UDP on in the server's configuration"
    } else {
        "the datagram cannot be sent; look at the network"
    };
    StoreError::new(
        ErrorKind::Unavailable,
        "send a datagram",
        format!("{advice} ({error})"),
    )
    .with_source(error)
}

/// Appends the line of a reading.
fn line(buffer: &mut Vec<u8>, measurement: &Measurement, batch: &Batch, row: usize) {
    buffer.extend_from_slice(measurement.head(batch.series[row]));
    let mut first = true;
    for (column, opening) in batch.columns.iter().zip(&measurement.openings) {
        if let Column {
            present: Some(present),
            ..
        } = column
            && !present[row]
        {
            continue;
        }
        buffer.extend_from_slice(if first { &opening[1..] } else { opening });
        first = false;
        value(buffer, &column.values, row);
    }
    buffer.push(b' ');
    buffer.extend_from_slice(itoa::Buffer::new().format(batch.times_ns[row]).as_bytes());
    buffer.push(b'\n');
}

fn value(buffer: &mut Vec<u8>, values: &Values, row: usize) {
    match values {
        Values::Bool(values) => buffer.push(if values[row] { b't' } else { b'f' }),
        Values::I64(values) => whole(buffer, values[row]),
        Values::U16(values) => {
            buffer.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
            buffer.push(b'i');
        }
        Values::F64(values) => {
            buffer.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes());
        }
        Values::Text(values) => text(buffer, values.get(row)),
    }
}

fn whole(buffer: &mut Vec<u8>, value: i64) {
    buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    buffer.push(b'i');
}

/// Appends text in quotes: a quote and a backslash are escaped, line breaks may stand as they are.
fn text(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    for &byte in text.as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            buffer.push(b'\\');
        }
        buffer.push(byte);
    }
    buffer.push(b'"');
}

fn entity_field(buffer: &mut Vec<u8>, name: &str, field: &Value) {
    if *field == Value::Null {
        return;
    }
    buffer.push(b',');
    buffer.extend_from_slice(name.as_bytes());
    buffer.push(b'=');
    match field {
        Value::Null => {}
        Value::Bool(value) => buffer.push(if *value { b't' } else { b'f' }),
        Value::I64(value) => whole(buffer, *value),
        Value::F64(value) => {
            buffer.extend_from_slice(zmij::Buffer::new().format_finite(*value).as_bytes());
        }
        Value::Text(value) => text(buffer, value),
    }
}

/// The line of the owner's mark.
pub(crate) fn mark_line(owner: &str, database: &str) -> Vec<u8> {
    let mut line = crate::schema::OWNER.as_bytes().to_vec();
    line.extend_from_slice(b" mark=");
    text(&mut line, owner);
    line.extend_from_slice(b",name=");
    text(&mut line, database);
    line.extend_from_slice(b" 0\n");
    line
}
