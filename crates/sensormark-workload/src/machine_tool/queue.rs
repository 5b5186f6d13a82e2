//! The queue between source and writer: a System V message queue with the kernel's default capacity.
//!
//! Source: study 000, section II: a Linux message queue of about 16 kB links sensor and writer; what does not fit is
//! lost, as a sensor's register is overwritten. A message's text is one sample, five 16-bit values in the machine's own
//! byte order; its type carries the sequence number plus one, at no cost in capacity. A message without text marks the end;
//! its type is one more than the number of samples that the source attempted.
//!
//! One process owns a queue ([`OwnedQueue`]) and removes it; others open it by its number. It is not for other payloads,
//! nor for more than one machine.

mod error;
mod kernel;
mod ownership;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libc::c_long;

pub use error::QueueError;
pub use ownership::{Orphan, Owner, orphans, remove_orphans, remove_own};

use error::{ignore_gone, refused};
use kernel::{TEXT_BYTES, Wait};
use sensormark_data::machine_tool::CHANNELS;

/// Bytes that a reading takes of the queue's capacity.
pub const READING_BYTES: u64 = TEXT_BYTES as u64;
/// How many keys are tried before giving up.
const KEYS: usize = 16;

/// What a receiver got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// One sample.
    Reading {
        /// Its number, from 0; gaps are samples that were lost.
        sequence: u64,
        /// Its values by channel, in counts.
        values: [u16; CHANNELS],
    },
    /// The source has ended; nothing follows.
    End {
        /// Samples that the source attempted, lost ones included.
        attempted: u64,
    },
}

/// A queue's state, read back from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueStatus {
    /// Capacity in bytes of text (msg_qbytes; the kernel's default is kernel.msgmnb, 16,384).
    pub capacity_bytes: u64,
    /// Messages waiting.
    pub messages: u64,
    /// When a message was last sent, in whole seconds since the Unix epoch; 0 for never.
    pub last_sent_unix_s: i64,
    /// The process that sent last, 0 for none.
    pub last_sender_pid: i32,
    /// The process that received last, 0 for none.
    pub last_receiver_pid: i32,
}

impl QueueStatus {
    /// How many readings fit into the empty queue.
    #[must_use]
    pub const fn capacity_readings(&self) -> u64 {
        self.capacity_bytes / READING_BYTES
    }

    /// How long the queue has been empty with nothing sent, to a second; none while messages wait (a full queue takes none)
    /// or before the first.
    #[must_use]
    pub fn silence(&self) -> Option<Duration> {
        let sent = u64::try_from(self.last_sent_unix_s).ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        (self.messages == 0 && sent > 0).then(|| now.saturating_sub(Duration::from_secs(sent)))
    }
}

/// A handle to a queue. Copies refer to the same queue; none removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageQueue {
    number: i32,
}

impl MessageQueue {
    /// The queue with this number, which its owner passed on.
    ///
    /// # Errors
    ///
    /// [`QueueError::Removed`] when there is none, [`QueueError::System`] when it is not open to this user.
    pub fn open(number: i32) -> Result<Self, QueueError> {
        let queue = Self { number };
        queue.status().map(|_| queue)
    }

    /// The kernel's number of the queue, by which other processes open it.
    #[must_use]
    pub const fn number(&self) -> i32 {
        self.number
    }

    /// Sends one sample without waiting. `false`: the queue is full and the sample is lost.
    ///
    /// # Errors
    ///
    /// [`QueueError::Removed`], [`QueueError::Sequence`], [`QueueError::System`].
    pub fn send(&self, sequence: u64, values: [u16; CHANNELS]) -> Result<bool, QueueError> {
        let mut text = [0; TEXT_BYTES];
        for (bytes, value) in text.chunks_exact_mut(2).zip(values) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
        self.send_text(sequence, &text)
    }

    /// Sends the end marker without waiting. `false`: the queue is full; try again.
    ///
    /// # Errors
    ///
    /// As [`MessageQueue::send`].
    pub fn send_end(&self, attempted: u64) -> Result<bool, QueueError> {
        self.send_text(attempted, &[])
    }

    /// Takes the oldest message, waiting for one as long as it takes.
    ///
    /// The caller sleeps in the kernel and costs nothing meanwhile. An end marker, or the queue's removal by its owner,
    /// ends the wait.
    ///
    /// # Errors
    ///
    /// [`QueueError::Removed`], [`QueueError::Foreign`], [`QueueError::System`].
    pub fn receive(&self) -> Result<Received, QueueError> {
        loop {
            if let Some(received) = self.take(Wait::Forever)? {
                return Ok(received);
            }
        }
    }

    /// Takes the oldest message, where there is one.
    ///
    /// # Errors
    ///
    /// As [`MessageQueue::receive`].
    pub fn try_receive(&self) -> Result<Option<Received>, QueueError> {
        self.take(Wait::Never)
    }

    /// Reads the queue's state back from the kernel.
    ///
    /// # Errors
    ///
    /// [`QueueError::Removed`], [`QueueError::System`].
    pub fn status(&self) -> Result<QueueStatus, QueueError> {
        let status = kernel::status(self.number).map_err(|source| refused("msgctl", source))?;
        Ok(QueueStatus {
            capacity_bytes: status.capacity_bytes,
            messages: status.messages,
            last_sent_unix_s: status.last_sent_unix_s,
            last_sender_pid: status.last_sender_pid,
            last_receiver_pid: status.last_receiver_pid,
        })
    }

    fn send_text(&self, sequence: u64, text: &[u8]) -> Result<bool, QueueError> {
        let kind = sequence.checked_add(1).and_then(|kind| c_long::try_from(kind).ok());
        let kind = kind.ok_or(QueueError::Sequence(sequence))?;
        loop {
            match kernel::send(self.number, kind, text) {
                Ok(()) => return Ok(true),
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(false),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(refused("msgsnd", error)),
            }
        }
    }

    /// One call for a message; `None` when there is none, or a signal came first.
    fn take(&self, wait: Wait) -> Result<Option<Received>, QueueError> {
        let message = match kernel::receive(self.number, wait) {
            Ok(message) => message,
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOMSG | libc::EINTR)) => {
                return Ok(None);
            }
            Err(error) => return Err(refused("msgrcv", error)),
        };
        let foreign = QueueError::Foreign { kind: message.kind, length: message.length };
        let number = u64::try_from(message.kind).ok().and_then(|kind| kind.checked_sub(1));
        match (number, message.length) {
            (Some(attempted), 0) => Ok(Some(Received::End { attempted })),
            (Some(sequence), TEXT_BYTES) => {
                let (pairs, _) = message.text.as_chunks::<2>();
                let values = std::array::from_fn(|channel| u16::from_ne_bytes(pairs[channel]));
                Ok(Some(Received::Reading { sequence, values }))
            }
            _ => Err(foreign),
        }
    }
}

/// A queue that this process made and removes, with its record, when dropped.
#[derive(Debug)]
pub struct OwnedQueue {
    queue: MessageQueue,
    record: PathBuf,
}

impl OwnedQueue {
    /// Makes an empty queue with the kernel's default capacity and records its owner in a folder, which is made if need be.
    ///
    /// # Errors
    ///
    /// [`QueueError::Record`], and [`QueueError::System`], for example when the kernel's limit of queues (kernel.msgmni) is reached.
    pub fn create(records: &Path) -> Result<Self, QueueError> {
        let owner = Owner::this_process()?;
        let mut refusal = std::io::Error::from_raw_os_error(libc::EEXIST);
        for _ in 0..KEYS {
            let (record, path) = ownership::write_record(records, &owner)?;
            match kernel::create(record.key) {
                Ok(number) => {
                    return Ok(Self { queue: MessageQueue { number }, record: path });
                }
                Err(error) => {
                    // Not our queue: its record must not outlive this attempt.
                    ownership::remove_record(&path)?;
                    refusal = error;
                }
            }
            if refusal.raw_os_error() != Some(libc::EEXIST) {
                break;
            }
        }
        Err(QueueError::System { operation: "msgget", source: refusal })
    }
}

impl Deref for OwnedQueue {
    type Target = MessageQueue;

    fn deref(&self) -> &MessageQueue {
        &self.queue
    }
}

impl Drop for OwnedQueue {
    fn drop(&mut self) {
        // The record goes last, and only after the queue: what cannot be removed now stays known as an orphan.
        let removed = ignore_gone(kernel::remove(self.queue.number));
        if let Err(error) = removed.and_then(|_| ownership::remove_record(&self.record)) {
            tracing::warn!(%error, queue = self.queue.number, "a message queue could not be removed");
        }
    }
}

#[cfg(test)]
mod tests;
