//! The journal: which readings a writer sent, at which time it stamped them, and whether they were acknowledged.
//!
//! An entry is 16 bytes, little-endian: the reading's sequence number with its standing in the two highest bits, then the
//! timestamp in ns. With the generator, which knows the values by sequence number, the journal gives every expected answer.
//! It says nothing of what is stored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of one entry.
const ENTRY_BYTES: usize = 16;
/// The bits of the first word that hold the standing.
const STANDING_SHIFT: u32 = 62;
/// The writer passes entries on when it has this many, or when the oldest has waited [`LONGEST_WAIT`].
const BUFFERED_ENTRIES: usize = 250;
/// The longest that an entry waits in the writer.
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// What became of a reading's write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The database acknowledged it.
    Acknowledged,
    /// It may be stored or not: a time-out, a broken connection, or a datagram.
    InDoubt,
    /// The database refused it.
    Refused,
}

/// One reading's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The reading's sequence number, under 2⁶².
    pub sequence: u64,
    /// The time that the writer stamped it with, in ns since the Unix epoch.
    pub time_ns: i64,
    /// What became of it.
    pub standing: Standing,
}

impl Entry {
    fn encode(self) -> [u8; ENTRY_BYTES] {
        let standing = match self.standing {
            Standing::Acknowledged => 0_u64,
            Standing::InDoubt => 1,
            Standing::Refused => 2,
        };
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&(self.sequence | (standing << STANDING_SHIFT)).to_le_bytes());
        bytes[8..].copy_from_slice(&self.time_ns.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; ENTRY_BYTES]) -> io::Result<Self> {
        let (first, second) = bytes.split_at(8);
        let word = u64::from_le_bytes(first.try_into().expect("eight bytes"));
        let standing = match word >> STANDING_SHIFT {
            0 => Standing::Acknowledged,
            1 => Standing::InDoubt,
            2 => Standing::Refused,
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the journal holds an entry of unknown standing",
                ));
            }
        };
        Ok(Self {
            sequence: word & ((1 << STANDING_SHIFT) - 1),
            time_ns: i64::from_le_bytes(second.try_into().expect("eight bytes")),
            standing,
        })
    }
}

/// The writer's end: entries are buffered and passed on in pieces, so that the journal costs next to nothing.
pub struct JournalWriter {
    pipe: File,
    buffer: Vec<u8>,
    oldest: Option<Instant>,
    spent: Duration,
}

impl JournalWriter {
    /// Opens the writing end of a journal's pipe (or a file).
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let pipe = File::options().append(true).open(path)?;
        Ok(Self {
            pipe,
            buffer: Vec::with_capacity(BUFFERED_ENTRIES * ENTRY_BYTES),
            oldest: None,
            spent: Duration::ZERO,
        })
    }

    /// Passes an entry on, sooner or later.
    ///
    /// # Errors
    /// When the pipe is broken: the coordinator is gone.
    pub fn push(&mut self, entry: Entry) -> io::Result<()> {
        self.buffer.extend_from_slice(&entry.encode());
        let full = self.buffer.len() >= BUFFERED_ENTRIES * ENTRY_BYTES;
        if full || self.buffer.len() == ENTRY_BYTES {
            let now = Instant::now();
            if full || self.oldest.is_some_and(|oldest| now - oldest > LONGEST_WAIT) {
                return self.flush();
            }
            self.oldest = Some(now);
        }
        Ok(())
    }

    /// Passes on what is buffered.
    ///
    /// # Errors
    /// When the pipe is broken.
    pub fn flush(&mut self) -> io::Result<()> {
        let before = Instant::now();
        self.pipe.write_all(&self.buffer)?;
        self.buffer.clear();
        self.oldest = None;
        self.spent += before.elapsed();
        Ok(())
    }

    /// Time spent passing entries on, an upper bound of what the journal costs the writer.
    pub const fn spent(&self) -> Duration {
        self.spent
    }
}

/// Reads a journal to its end.
///
/// # Errors
/// When it cannot be read or ends within an entry.
pub fn read(source: &mut impl Read) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut bytes = [0_u8; ENTRY_BYTES];
    loop {
        let mut filled = 0;
        while filled < ENTRY_BYTES {
            match source.read(&mut bytes[filled..])? {
                0 if filled == 0 => return Ok(entries),
                0 => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the journal ends within an entry",
                    ));
                }
                count => filled += count,
            }
        }
        entries.push(Entry::decode(&bytes)?);
    }
}

/// The first and the last entry of a journal's file; none of an empty one.
///
/// # Errors
/// When it cannot be read or ends within an entry.
pub fn first_and_last(path: &Path) -> io::Result<Option<(Entry, Entry)>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < ENTRY_BYTES as u64 {
        return Ok(None);
    }
    let mut bytes = [0_u8; ENTRY_BYTES];
    file.read_exact(&mut bytes)?;
    let first = Entry::decode(&bytes)?;
    file.seek(SeekFrom::End(-(ENTRY_BYTES as i64)))?;
    file.read_exact(&mut bytes)?;
    Ok(Some((first, Entry::decode(&bytes)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were() {
        let scratch = tempfile::NamedTempFile::new().unwrap();
        let standings = [Standing::Acknowledged, Standing::InDoubt, Standing::Refused];
        let entries: Vec<Entry> = (0..1_000_u64)
            .map(|i| Entry {
                sequence: i * 3,
                time_ns: -5 + i64::try_from(i).unwrap(),
                standing: standings[usize::try_from(i % 3).unwrap()],
            })
            .collect();
        let mut writer = JournalWriter::open(scratch.path()).unwrap();
        for &entry in &entries {
            writer.push(entry).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(read(&mut File::open(scratch.path()).unwrap()).unwrap(), entries);
        assert_eq!(first_and_last(scratch.path()).unwrap(), Some((entries[0], entries[999])));
    }

    #[test]
    fn a_journal_that_is_cut_off_is_an_error() {
        let error = read(&mut [0_u8; 20].as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
