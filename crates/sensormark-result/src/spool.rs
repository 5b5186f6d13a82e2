//! Bytes that are needed again when a phase or a trial is over: the newest in memory, all others in a file without a name.
//!
//! The process has one such file. A thread of its own writes it, so that nobody who measures waits for a disk. What it has not written yet, or cannot write,
//! stays in memory. What nobody needs any more goes back to the disk.

use rustix::fs::{FallocateFlags, fallocate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;

/// Where bytes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    begin: u64,
    length: usize,
}

impl Place {
    /// Of bytes that follow `begin` others.
    pub const fn new(begin: u64, length: usize) -> Self {
        Self { begin, length }
    }

    /// How many bytes they are.
    pub const fn bytes(self) -> usize {
        self.length
    }
}

/// Bytes in the order in which they came.
#[derive(Debug)]
pub struct Spool {
    newest: Vec<u8>,
    /// Where the newest begin.
    begin: u64,
    /// Where each older block begins, in order.
    older: Vec<(u64, Arc<Block>)>,
    /// When so many bytes are together, they go to the file.
    block: usize,
}

/// Bytes that are in the file, or on their way there.
#[derive(Debug)]
struct Block {
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Waiting(Vec<u8>),
    Written { file: &'static File, at: u64, length: u64 },
}

impl Block {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes it to the end of the file, and forgets the bytes where that has worked.
    fn write(&self, file: &'static File, end: &mut u64) {
        let mut state = self.state();
        let State::Waiting(bytes) = &*state else {
            return;
        };
        let (at, length) = (*end, bytes.len() as u64);
        if file.write_all_at(bytes, at).is_ok() {
            *end += length;
            *state = State::Written { file, at, length };
        }
    }

    fn read(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        match &*self.state() {
            State::Waiting(bytes) => part(bytes, from, length),
            State::Written { file, at, .. } => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, at + from)?;
                Ok(bytes)
            }
        }
    }
}

impl Drop for Block {
    /// A file system without holes keeps the bytes until the process ends.
    fn drop(&mut self) {
        if let State::Written { file, at, length } = &*self.state() {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // It is room on a disk alone.
            let _ = fallocate(file, hole, *at, *length);
        }
    }
}

fn part(bytes: &[u8], from: u64, length: usize) -> io::Result<Vec<u8>> {
    let from = usize::try_from(from).ok();
    let found = from.and_then(|from| bytes.get(from..from.checked_add(length)?));
    let found = found.ok_or_else(|| io::Error::other("a place that is not of this spool"));
    found.map(<[u8]>::to_vec)
}

impl Spool {
    /// Nothing yet. So many bytes together go to the file.
    pub const fn new(block: usize) -> Self {
        Self { newest: Vec::new(), begin: 0, older: Vec::new(), block }
    }

    /// Appends a value, packed.
    pub fn put(&mut self, value: &impl Serialize) -> Place {
        let from = self.newest.len();
        postcard::to_io(value, &mut self.newest).expect("memory takes all that is written");
        let place = Place::new(self.begin + from as u64, self.newest.len() - from);
        if self.newest.len() >= self.block
            && let Some(writer) = writer()
        {
            self.hand_over(writer);
        }
        place
    }

    /// The value at a place of this spool.
    ///
    /// # Errors
    /// When the file cannot be read, or another kind of value stands there.
    pub fn get<T: DeserializeOwned>(&self, place: Place) -> io::Result<T> {
        postcard::from_bytes(&self.read(place)?).map_err(io::Error::other)
    }

    /// All values, which are of one kind, in their order.
    ///
    /// # Errors
    /// When the file cannot be read, or another kind of value stands there.
    pub fn values<T: DeserializeOwned>(&self) -> io::Result<Vec<T>> {
        let packed = self.all()?;
        let (mut values, mut rest) = (Vec::new(), packed.as_slice());
        while !rest.is_empty() {
            let (value, after) = postcard::take_from_bytes(rest).map_err(io::Error::other)?;
            values.push(value);
            rest = after;
        }
        Ok(values)
    }

    /// How many bytes its values take, in memory and in the file.
    #[cfg(any(test, feature = "tests"))]
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.begin).expect("small") + self.newest.len()
    }

    fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        if let Some(from) = place.begin.checked_sub(self.begin) {
            return part(&self.newest, from, place.length);
        }
        let after = self.older.partition_point(|(begin, _)| *begin <= place.begin);
        // The first block begins at 0.
        let (begin, block) = &self.older[after - 1];
        block.read(place.begin - begin, place.length)
    }

    fn all(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let ends = self.older.iter().skip(1).map(|(begin, _)| *begin);
        for ((begin, block), end) in self.older.iter().zip(ends.chain([self.begin])) {
            let length = usize::try_from(end - begin).map_err(io::Error::other)?;
            all.extend(block.read(0, length)?);
        }
        all.extend(&self.newest);
        Ok(all)
    }

    /// Gives the newest to the thread that writes.
    fn hand_over(&mut self, writer: &Writer) {
        let bytes = std::mem::take(&mut self.newest);
        let begin = self.begin;
        self.begin += bytes.len() as u64;
        let state = Mutex::new(State::Waiting(bytes));
        let block = Arc::new(Block { state });
        // The thread ends with the process alone. If it did not, the block would stay in memory.
        let _ = writer.send(Arc::downgrade(&block));
        self.older.push((begin, block));
    }
}

/// Where to tell the thread that writes of a block.
type Writer = Sender<Weak<Block>>;

/// The thread that writes for all spools of the process. Without a file or a thread there is none, and all stays in memory.
fn writer() -> Option<&'static Writer> {
    static FILE: OnceLock<File> = OnceLock::new();
    static WRITER: OnceLock<Option<Writer>> = OnceLock::new();
    let start = || {
        let opened = tempfile::tempfile().ok()?;
        let file = FILE.get_or_init(|| opened);
        let (sender, receiver): (Writer, _) = channel();
        let work = move || {
            let mut end = 0;
            let blocks = receiver.iter().filter_map(|block| block.upgrade());
            blocks.for_each(|block| block.write(file, &mut end));
        };
        let thread = thread::Builder::new().name("spool".to_owned()).spawn(work);
        thread.ok().map(|_| sender)
    };
    WRITER.get_or_init(start).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, Instant};

    const BLOCK: usize = 8 << 10;

    /// Waits until nothing but the newest is in memory.
    fn written(spool: &Spool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let waits = |(_, block): &(u64, Arc<Block>)| matches!(*block.state(), State::Waiting(_));
        while spool.older.iter().any(waits) {
            assert!(Instant::now() < deadline, "nothing is written");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn bytes_come_back_from_memory_and_from_the_file() {
        let mut spool = Spool::new(BLOCK);
        let text = |number: u32| number.to_string().repeat(100);
        let places: Vec<Place> = (0..3_000).map(|number| spool.put(&text(number))).collect();
        let check = |spool: &Spool| {
            for (number, place) in (0..3_000).zip(&places).rev() {
                let value: String = spool.get(*place).expect("readable");
                assert_eq!(value, text(number));
            }
            let all: Vec<String> = spool.values().expect("readable");
            assert!(all.into_iter().eq((0..3_000).map(text)));
        };
        check(&spool);
        assert!(spool.older.len() > 100);
        written(&spool);
        assert!(spool.newest.len() < BLOCK);
        check(&spool);
        let (begin, last) = spool.older.last().expect("blocks").clone();
        let beyond = spool.read(Place::new(begin, 1 << 20));
        assert!(beyond.is_err(), "more than the file has");
        drop(last);
    }

    #[test]
    fn what_is_needed_no_more_goes_back_to_the_disk() {
        let mut spool = Spool::new(BLOCK);
        for _ in 0..1_000 {
            spool.put(&vec![7_u8; BLOCK]);
        }
        written(&spool);
        let State::Written { file, .. } = *spool.older[0].1.state() else {
            panic!("it is in memory");
        };
        let blocks = || file.metadata().expect("open").blocks() * 512;
        let before = blocks();
        drop(spool);
        // Tests beside this one use the file, too, but far less of it.
        let left = before.saturating_sub(blocks());
        assert!(left > 4_000_000, "{left} bytes went back");
    }

    #[test]
    fn what_cannot_be_written_stays_in_memory_and_what_cannot_be_read_is_an_error() {
        static UNWRITABLE: OnceLock<File> = OnceLock::new();
        let file = UNWRITABLE.get_or_init(|| File::open("/dev/null").expect("is there"));
        let block = |state| Block { state: Mutex::new(state) };
        let waiting = block(State::Waiting(vec![1, 2, 3]));
        let mut end = 0;
        waiting.write(file, &mut end);
        assert_eq!((waiting.read(1, 2).expect("in memory"), end), (vec![2, 3], 0));
        let written = State::Written { file, at: 0, length: 3 };
        let error = block(written).read(0, 3).expect_err("the file is empty");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
