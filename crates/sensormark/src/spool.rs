//! Bytes that are needed again when a phase or a trial is over: the newest in memory, all others in a file without a name.
//!
//! A thread of its own writes them, so that nobody who measures waits for a disk. What it has not written yet, or cannot write, stays in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// When this many bytes are together, they go to the file.
const BLOCK: usize = 128 << 10;

/// Where bytes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    begin: u64,
    length: usize,
}

impl Place {
    /// How many bytes they are.
    pub const fn bytes(self) -> usize {
        self.length
    }
}

/// Bytes in the order in which they came.
#[derive(Debug, Default)]
pub struct Spool {
    newest: Vec<u8>,
    /// Where the newest begin.
    begin: u64,
    older: Option<Arc<Older>>,
    /// There can be no file: all bytes stay in memory.
    no_file: bool,
}

/// What is in the file, or on its way there.
#[derive(Debug)]
struct Older {
    file: File,
    /// Blocks that are not in the file yet, by where they begin.
    waiting: Mutex<BTreeMap<u64, Arc<Vec<u8>>>>,
}

impl Older {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Vec<u8>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the block that begins there, and forgets it where that has worked.
    fn write(&self, begin: u64) {
        let block = self.waiting().get(&begin).map(Arc::clone);
        if let Some(block) = block
            && self.file.write_all_at(&block, begin).is_ok()
        {
            self.waiting().remove(&begin);
        }
    }

    fn read(&self, place: Place) -> Vec<u8> {
        let waiting = self.waiting();
        let before = waiting.range(..=place.begin).next_back();
        if let Some((begin, block)) = before
            && let Ok(from) = usize::try_from(place.begin - begin)
            && let Some(bytes) = block.get(from..from + place.length)
        {
            return bytes.to_vec();
        }
        drop(waiting);
        let mut bytes = vec![0; place.length];
        self.file
            .read_exact_at(&mut bytes, place.begin)
            .expect("a file that was written can be read while it is open");
        bytes
    }
}

impl Spool {
    /// Appends what this writes.
    pub fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Place {
        let from = self.newest.len();
        write(&mut self.newest);
        let place = Place {
            begin: self.begin + from as u64,
            length: self.newest.len() - from,
        };
        if self.newest.len() >= BLOCK && !self.no_file {
            self.hand_over();
        }
        place
    }

    /// What stands at a place of this spool.
    ///
    /// # Panics
    /// When the file cannot be read, or the place is of another spool.
    pub fn read(&self, place: Place) -> Vec<u8> {
        match (place.begin.checked_sub(self.begin), &self.older) {
            (None, Some(older)) => older.read(place),
            (from, _) => {
                let from = from.and_then(|from| usize::try_from(from).ok());
                let from = from.expect("a place of this spool");
                self.newest[from..from + place.length].to_vec()
            }
        }
    }

    /// Gives the newest to the thread that writes. Where there can be no file or no thread, they stay.
    fn hand_over(&mut self) {
        let open = |file| Older {
            file,
            waiting: Mutex::default(),
        };
        if self.older.is_none() {
            self.older = tempfile::tempfile().ok().map(|file| Arc::new(open(file)));
        }
        let (Some(older), Some(writer)) = (&self.older, writer()) else {
            self.no_file = true;
            return;
        };
        let block = std::mem::take(&mut self.newest);
        let begin = self.begin;
        self.begin += block.len() as u64;
        older.waiting().insert(begin, Arc::new(block));
        // The thread ends with the process alone. If it did not, the block would stay in memory.
        let _ = writer.send((Arc::clone(older), begin));
    }
}

/// Where to tell the thread that writes of a block, by its file and where it begins.
type Writer = Sender<(Arc<Older>, u64)>;

/// The thread that writes for all spools of the process.
fn writer() -> Option<&'static Writer> {
    static WRITER: OnceLock<Option<Writer>> = OnceLock::new();
    let start = || {
        let (sender, receiver): (Writer, _) = channel();
        let work = move || {
            receiver
                .iter()
                .for_each(|(older, begin)| older.write(begin))
        };
        let thread = thread::Builder::new().name("spool".to_owned()).spawn(work);
        thread.ok().map(|_| sender)
    };
    WRITER.get_or_init(start).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn bytes_come_back_from_memory_and_from_the_file() {
        let mut spool = Spool::default();
        let text = |number: u32| number.to_string().repeat(100).into_bytes();
        let places: Vec<Place> = (0..3_000)
            .map(|number| spool.append(|bytes| bytes.extend(text(number))))
            .collect();
        let check = |spool: &Spool| {
            for (number, place) in (0..3_000).zip(&places).rev() {
                assert_eq!(spool.read(*place), text(number));
            }
        };
        check(&spool);
        let older = spool
            .older
            .as_ref()
            .expect("a megabyte is more than a block");
        let deadline = Instant::now() + Duration::from_secs(60);
        while !older.waiting().is_empty() {
            assert!(Instant::now() < deadline, "nothing is written");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(spool.newest.len() < BLOCK);
        check(&spool);
    }

    #[test]
    fn without_a_file_all_stays_in_memory() {
        let mut spool = Spool {
            no_file: true,
            ..Spool::default()
        };
        let places = [1, 2, 3].map(|byte| spool.append(|bytes| bytes.extend([byte; BLOCK])));
        assert!(spool.older.is_none());
        assert_eq!(spool.read(places[0]), [1; BLOCK]);
        assert_eq!(spool.read(places[2]), [3; BLOCK]);
    }

    #[test]
    fn what_cannot_be_written_stays_in_memory() {
        let file = File::open("/dev/null").expect("a file that cannot be written");
        let older = Older {
            file,
            waiting: Mutex::default(),
        };
        older.waiting().insert(7, Arc::new(vec![1, 2, 3]));
        older.write(7);
        let place = Place {
            begin: 8,
            length: 2,
        };
        assert_eq!(older.read(place), [2, 3]);
    }
}
