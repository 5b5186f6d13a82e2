//! Writes: a row a document, in an insert or in updates, as many as fit into a command. What is sent is encoded straight from the batch's columns, once.
//!
//! The encoder `series` brings all readings of a series together: the server gathers what an insert brings of one series into one change of its bucket
//! (<https://www.mongodb.com/docs/manual/core/timeseries/timeseries-best-practices/>).

use super::error::{fault, refusal};
use super::text::Node;
use super::writer::{Of, Values, Writer};
use super::{Ready, Session};
use crate::{Block, Fault, Rows};
use mongodb::bson::{Document, RawDocumentBuf};
use sensormark_store::{ErrorKind, StoreError};
use std::rc::Rc;

pub(super) const OPERATION: &str = "write readings to MongoDB";
/// The largest document that is sent: 16 MiB, less what the server adds.
pub(super) const LARGEST_DOCUMENT: usize = (16 << 20) - 64;
/// The size that a command with several documents stays under.
pub(super) const LARGEST_COMMAND: usize = 15 << 20;
/// The same of the encoder `series`: the crate holds an insert about four times while it sends it.
const LARGEST_OF_SERIES: usize = 300_000;
/// The most documents that the server takes in one command.
const MOST_DOCUMENTS: usize = 100_000;
/// How much longer than the first a document of a batch may be before the buffer grows by itself.
const SPREAD: usize = 16;
/// Documents of a command that people are shown.
const SHOWN: usize = 2;

/// A document that is too large for any command.
pub(super) fn too_large(bytes: usize) -> Fault {
    let text =
        format!("a document of {bytes} bytes; MongoDB takes at most 16 MiB: use smaller readings or records");
    StoreError::new(ErrorKind::TooLarge, OPERATION, text).into()
}

/// A fault after so many readings of the block.
pub(super) fn partly(fault: Fault, acknowledged: usize, goes_on: bool) -> Fault {
    Fault::Partly { fault: Box::new(fault), acknowledged: acknowledged as u64, goes_on }
}

/// Why a command failed, how many of its documents are stored before what failed, and whether there are more behind it.
pub(super) struct Failed {
    pub(super) fault: Fault,
    pub(super) documents: usize,
    pub(super) goes_on: bool,
}

/// What a command is made of.
struct Documents<'a> {
    ready: &'a Ready,
    /// `documents` or `updates`, and one of them.
    list: &'a str,
    each: &'a Node,
    rows: &'a Rows<'a>,
    order: Option<Vec<u32>>,
    most_bytes: usize,
}

impl<'a> Documents<'a> {
    fn new(ready: &'a Ready, block: &Block<'a>) -> Result<Self, Fault> {
        let lists = ["documents", "updates"].map(|list| (list, ready.node.get(list)));
        let found = lists.into_iter().find_map(|(list, node)| match node {
            Some(Node::Array(all)) => Some((list, all.first()?)),
            _ => None,
        });
        let Some((list, each)) = found else {
            let text = "a write has neither documents nor updates";
            return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text).into());
        };
        let rows = block.rows;
        let by_series = block.encoder == "series";
        let order = by_series.then(|| {
            let mut order: Vec<u32> = (0..).take(rows.len()).collect();
            order.sort_by_key(|&row| rows.series(row as usize)); // stable
            order
        });
        let most_bytes = if by_series { LARGEST_OF_SERIES } else { LARGEST_COMMAND };
        Ok(Self { ready, list, each, rows, order, most_bytes })
    }

    fn row(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place] as usize)
    }

    /// The command with the documents from a place on, at most so many; how many fit.
    fn command(&self, session: &Session, from: usize, most: usize) -> Result<(Writer, usize), Fault> {
        let mut writer = session.head(self.ready, Some(self.list));
        writer.open_array(self.list);
        let (all, mut count) = (self.rows.len() - from, 0);
        while count < all.min(most) {
            let (mark, row) = (writer.mark(), self.row(from + count));
            let record = self.rows.record(row);
            let of = Of::Row { rows: self.rows, row, record: record.as_ref(), reading: None };
            let values = Values { kinds: &self.ready.kinds, of };
            writer.put(itoa::Buffer::new().format(count), self.each, &values);
            let bytes = writer.bytes.len() - mark.0;
            let is_large = bytes > LARGEST_DOCUMENT;
            if count == 0 {
                if is_large {
                    return Err(too_large(bytes));
                }
                // The others are about as large: a buffer that grew by itself would hold up to twice as much.
                writer.bytes.reserve_exact(((bytes + SPREAD) * (all - 1)).min(self.most_bytes));
            } else if is_large || writer.bytes.len() > self.most_bytes {
                writer.rewind(mark);
                break;
            }
            count += 1;
        }
        Ok((writer, count))
    }

    /// How many of the block's readings, from the first, are in these first documents.
    fn readings(&self, documents: usize) -> usize {
        let mut stored = Vec::new();
        for place in 0..documents {
            let row = self.row(place);
            match self.rows.record(row) {
                Some(record) => stored.extend(record.rows()),
                None => stored.push(self.rows.reading(row)),
            }
        }
        let first = (0..self.rows.len()).map(|row| self.rows.reading(row)).min().unwrap_or_default();
        without_gap(stored, first)
    }
}

/// How many readings there are from the first on.
pub(super) fn without_gap(mut stored: Vec<usize>, first: usize) -> usize {
    stored.sort_unstable();
    stored.iter().zip(first..).take_while(|(reading, expected)| *reading == expected).count()
}

impl Session {
    /// Begins a command that writes, without what the list of this name holds. In a transaction it states no concern of its own.
    pub(super) fn head(&self, ready: &Ready, list: Option<&str>) -> Writer {
        let mut writer = Writer::document();
        let nothing = Values { kinds: &[], of: Of::Question(&[]) };
        for (name, value) in ready.node.entries() {
            let name = name.text().unwrap_or_default();
            if Some(name) != list {
                writer.put(name, value, &nothing);
            }
        }
        self.put_further(ready, &mut writer);
        writer
    }

    pub(super) async fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let ready = Rc::clone(&self.statements[block.statement.0].ready);
        if block.encoder == "buckets" {
            return self.write_buckets(&ready, block.rows).await;
        }
        let documents = Documents::new(&ready, &block)?;
        let (mut from, mut commands) = (0, 0);
        while from < block.rows.len() {
            let made = documents.command(self, from, MOST_DOCUMENTS);
            let (writer, count) = made.map_err(|fault| partly(fault, documents.readings(from), false))?;
            if let Err(failed) = self.send(writer.finish()?).await {
                let stored = documents.readings(from + failed.documents);
                return Err(partly(failed.fault, stored, failed.goes_on));
            }
            from += count;
            commands += 1;
        }
        Ok(commands)
    }

    /// Sends a command that writes.
    pub(super) async fn send(&mut self, command: RawDocumentBuf) -> Result<(), Failed> {
        let running = self.database.run_raw_command(command);
        let answer = match &mut self.transaction {
            Some(transaction) => running.session(transaction).await,
            None => running.await,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                return Err(Failed { fault: fault(OPERATION, error), documents: 0, goes_on: false });
            }
        };
        let Some((place, fault)) = refusal(&answer) else { return Ok(()) };
        let stored = usize::try_from(answer.get_i32("n").unwrap_or(0)).unwrap_or(0);
        // An unordered insert goes on: documents behind the one that failed are stored too, and are not counted.
        let goes_on = place.is_none_or(|place| stored > place);
        Err(Failed { fault, documents: place.unwrap_or(0), goes_on })
    }

    /// A command of a block as people are shown it.
    pub(super) fn shown(&self, block: &Block<'_>) -> Option<String> {
        let ready = &self.statements[block.statement.0].ready;
        let (writer, all) = if block.encoder == "buckets" {
            (self.first_buckets(ready, block.rows, SHOWN).ok()?, None)
        } else {
            let documents = Documents::new(ready, block).ok()?;
            (documents.command(self, 0, SHOWN).ok()?.0, Some(block.rows.len()))
        };
        let command = Document::try_from(writer.finish().ok()?.as_ref()).ok()?;
        let further = all.filter(|all| *all > SHOWN).map(|all| format!(" (the first {SHOWN} of {all})"));
        Some(format!("{command}{}", further.unwrap_or_default()))
    }
}
