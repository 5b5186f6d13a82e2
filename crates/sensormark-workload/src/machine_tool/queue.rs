//! The queue between source and writer: a pipe of the kernel, which ends with the processes that have it open.
//!
//! Source: study 000, section II: a Linux message queue of about 16 kB links sensor and writer; what does not fit is lost. It has room for 1,638 readings, and
//! the pipe for [`CAPACITY_READINGS`] at most: a page counts until all of it is read. Messages are written as a whole or not at all (pipe(7), PIPE_BUF).

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::ioctl_fionread;
use rustix::pipe::fcntl_setpipe_size;
use sensormark_data::machine_tool::CHANNELS;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Bytes of a message: number, values, and whether it is a reading.
const BYTES: usize = 20;
const PAGE_BYTES: usize = 4_096;
const PAGES: usize = 8;
/// As many readings as there is room for.
pub const CAPACITY_READINGS: u64 = (PAGES * (PAGE_BYTES / BYTES)) as u64;
/// The bytes of those.
pub const CAPACITY_BYTES: u64 = (PAGES * PAGE_BYTES) as u64;

/// What comes off the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// One sample.
    Reading {
        /// Its index.
        sequence: u64,
        /// Its values.
        values: [u16; CHANNELS],
    },
    /// The source has ended.
    End {
        /// How many samples it attempted.
        attempted: u64,
    },
}

/// One end of the queue.
#[derive(Debug)]
pub struct Queue {
    pipe: File,
    made: SystemTime,
}

impl Queue {
    /// A new queue. It is in no folder any more when this returns: other processes find it at [`Queue::address`] for as long as this one has it.
    ///
    /// # Errors
    /// The kernel's, when it makes none.
    pub fn create() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("queue");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
        // Of both directions, so that neither end waits for the other to be opened.
        let queue = Self::open(&path, OpenOptions::new().read(true).write(true))?;
        fcntl_setpipe_size(&queue.pipe, PAGES * PAGE_BYTES)?;
        Ok(queue)
    }

    fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let pipe = options.open(path)?;
        let made = pipe.metadata()?.modified()?;
        Ok(Self { pipe, made })
    }

    /// Where other processes of this user open it.
    #[must_use]
    pub fn address(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.pipe.as_raw_fd())
    }

    /// The source's end.
    ///
    /// # Errors
    /// The kernel's, when the queue is gone.
    pub fn source(address: &str) -> Result<Self> {
        let options = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).clone();
        Self::open(Path::new(address), &options)
    }

    /// The writer's end.
    ///
    /// # Errors
    /// The kernel's, when the queue is gone.
    pub fn writer(address: &str) -> Result<Self> {
        Self::open(Path::new(address), OpenOptions::new().read(true))
    }

    /// Sends a sample without waiting: whether there was room for it.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenPipe`] when nobody has the queue open to take it.
    pub fn send(&self, sequence: u64, values: [u16; CHANNELS]) -> Result<bool> {
        self.put(sequence, values, 1)
    }

    /// Sends the mark of the end without waiting: whether there was room for it.
    ///
    /// # Errors
    /// As [`Queue::send`].
    pub fn send_end(&self, attempted: u64) -> Result<bool> {
        self.put(attempted, [0; CHANNELS], 0)
    }

    fn put(&self, number: u64, values: [u16; CHANNELS], kind: u16) -> Result<bool> {
        let mut message = [0; BYTES];
        message[..8].copy_from_slice(&number.to_ne_bytes());
        for (bytes, value) in message[8..].chunks_exact_mut(2).zip(values.into_iter().chain([kind])) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
        match (&self.pipe).write(&message) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            written => written.map(|_| true),
        }
    }

    /// Waits for the next message and takes it.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] when nobody has the queue open to send.
    pub fn receive(&self) -> Result<Received> {
        let mut message = [0; BYTES];
        (&self.pipe).read_exact(&mut message)?;
        let (number, rest) = message.split_at(8);
        let number = number.try_into().map_or(0, u64::from_ne_bytes);
        let word = |place: usize| u16::from_ne_bytes([rest[2 * place], rest[2 * place + 1]]);
        Ok(match word(CHANNELS) {
            0 => Received::End { attempted: number },
            _ => Received::Reading { sequence: number, values: std::array::from_fn(word) },
        })
    }

    /// How long ago the last message was sent, if all are taken; none where none was sent.
    ///
    /// # Errors
    /// The kernel's.
    pub fn silence(&self) -> Result<Option<Duration>> {
        let sent = self.pipe.metadata()?.modified()?;
        let is_silent = sent > self.made && ioctl_fionread(&self.pipe)? == 0;
        Ok(is_silent.then(|| sent.elapsed().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
