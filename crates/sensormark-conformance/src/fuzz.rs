//! Hostile input: every reader gets mutations of good examples. It must neither panic nor hang.
//!
//! A target is a function of bytes. Its good examples are files in a folder of the repository. Each is tried as it is, then mutated: bits, bytes, numbers,
//! pieces of other examples. It is not guided by coverage, because that needs a compiler that is not released.
//!
//! `SENSORMARK_FUZZ_SECONDS` says how long each target is tried. `SENSORMARK_FUZZ_SEED` gives other mutations; without it they are always the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a target is tried unless the variable says otherwise.
const SECONDS: u64 = 10;
/// Where inputs that break a target are kept, and the last one of each.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/fuzz");
/// The most processor time that one input may take; one that takes more hangs whoever reads it.
const LONGEST: Duration = Duration::from_secs(20);
/// The longest that one input may take in all, where its reader waits or the machine is busy.
const LONGEST_IN_ALL: Duration = Duration::from_secs(600);
/// No input grows beyond this by mutations.
const MOST_BYTES: usize = 1 << 16;
/// What this process may take.
const MOST_MEMORY_BYTES: u64 = 6 << 30;
/// What numbers are replaced by.
const NUMBERS: [&str; 18] = [
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967295",
    "-9223372036854775808",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e309",
    "-0.0",
    "4e-324",
    "NaN",
    "null",
];
/// What is put in between.
const PIECES: [&[u8]; 14] = [
    b"\0",
    b"\xff",
    b"\xf0\x9f\x92\xa5",
    b"\r\n",
    b"\"",
    b"'",
    b"\\",
    b",",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\n\n",
    b"%",
];

/// Tries a target with the examples in a folder, and mutations of them.
///
/// # Panics
/// When the target panics or hangs: with the input, which is kept in `target/fuzz`. When there are no examples.
pub fn target(name: &str, examples: &Path, read: impl Fn(&[u8])) {
    let examples = examples_in(examples);
    assert!(!examples.is_empty(), "{name}: there is no example");
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let limit = Duration::from_secs(number("SENSORMARK_FUZZ_SECONDS").unwrap_or(SECONDS));
    let mut random = Random(number("SENSORMARK_FUZZ_SEED").unwrap_or(1));
    bound_memory();
    let _ = std::fs::create_dir_all(KEPT);
    let watch = Watch::start(name);
    let began = Instant::now();
    let mut tried = 0_u64;
    for example in &examples {
        attempt(name, example, &read, &watch);
    }
    while began.elapsed() < limit {
        let input = mutated(&examples, &mut random);
        attempt(name, &input, &read, &watch);
        tried += 1;
    }
    println!("{name}: {tried} mutations of {} examples in {} s", examples.len(), limit.as_secs());
}

/// An input that makes a reader take all memory ends this process alone. What cannot be bounded is tried unbounded.
fn bound_memory() {
    let id = std::process::id().to_string();
    let limit = format!("--as={MOST_MEMORY_BYTES}:");
    let _ = std::process::Command::new("prlimit").args(["--pid", &id, &limit]).output();
}

fn examples_in(folder: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

fn attempt(name: &str, input: &[u8], read: &impl Fn(&[u8]), watch: &Watch) {
    watch.begin(input);
    // It stays there when the process is ended by what it does.
    let last = Path::new(KEPT).join(format!("{}-last", name.replace(' ', "-")));
    let _ = std::fs::write(&last, input);
    let outcome = catch_unwind(AssertUnwindSafe(|| read(input)));
    watch.end();
    if outcome.is_err() {
        let kept = keep(name, input);
        panic!("{name}: a panic, said above, by {kept}:\n{}", String::from_utf8_lossy(input));
    }
}

/// Keeps an input, and says where.
fn keep(name: &str, input: &[u8]) -> String {
    let sum = input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let folder = Path::new(KEPT);
    let path = folder.join(format!("{}-{sum:016x}", name.replace(' ', "-")));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, input));
    written
        .map_or_else(|error| format!("an input that is not kept ({error})"), |()| path.display().to_string())
}

/// The input that is being read, since when, and after how much processor time of its thread.
type Present = Option<(Instant, Duration, Vec<u8>)>;

/// The processor time that a thread has had, from its `schedstat`.
fn processor_time(schedstat: &Path) -> Option<Duration> {
    let text = std::fs::read_to_string(schedstat).ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Ends the process when one input takes too long. The input is named and kept.
struct Watch {
    now: Arc<Mutex<Present>>,
    over: Arc<AtomicBool>,
    /// Of the thread that reads.
    schedstat: PathBuf,
}

impl Watch {
    fn start(name: &str) -> Self {
        let own = std::fs::read_link("/proc/thread-self");
        let own = own.map(|own| Path::new("/proc").join(own).join("schedstat"));
        let watch = Self { now: Arc::default(), over: Arc::default(), schedstat: own.unwrap_or_default() };
        let (now, over, name, schedstat) =
            (Arc::clone(&watch.now), Arc::clone(&watch.over), name.to_owned(), watch.schedstat.clone());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
                let now = now.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((since, before, input)) = now.as_ref() else {
                    continue;
                };
                let had = processor_time(&schedstat).map(|had| had.saturating_sub(*before));
                if had.is_some_and(|had| had > LONGEST) || since.elapsed() > LONGEST_IN_ALL {
                    eprintln!(
                        "{name}: no end after {} s and {} s of processor time, by {}",
                        since.elapsed().as_secs(),
                        had.unwrap_or_default().as_secs(),
                        keep(&name, input)
                    );
                    std::process::abort();
                }
            }
        });
        watch
    }

    fn begin(&self, input: &[u8]) {
        let before = processor_time(&self.schedstat).unwrap_or_default();
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Instant::now(), before, input.to_vec()));
    }

    fn end(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// An example with some mutations.
fn mutated(examples: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = examples[random.below(examples.len())].clone();
    for _ in 0..=random.below(6) {
        mutate(&mut bytes, examples, random);
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

fn mutate(bytes: &mut Vec<u8>, examples: &[Vec<u8>], random: &mut Random) {
    if bytes.is_empty() {
        bytes.extend_from_slice(PIECES[random.below(PIECES.len())]);
        return;
    }
    let at = random.below(bytes.len());
    let end = at + random.below((bytes.len() - at).min(64)) + 1;
    match random.below(10) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = u8::try_from(random.below(256)).unwrap_or(0),
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        4 => {
            let copy = bytes[at..end].to_vec();
            insert(bytes, random, &copy);
        }
        5 => {
            let other = &examples[random.below(examples.len())];
            let from = random.below(other.len().max(1));
            let to = (from + 1 + random.below(200)).min(other.len());
            insert(bytes, random, &other[from.min(to)..to]);
        }
        6..9 => replace_number(bytes, at, random),
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            insert(bytes, random, piece);
        }
    }
}

fn insert(bytes: &mut Vec<u8>, random: &mut Random, piece: &[u8]) {
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, piece.iter().copied());
}

/// Puts an extreme number in the place of the first one after this.
fn replace_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'e');
    let Some(from) = bytes[at..].iter().position(u8::is_ascii_digit).map(|place| at + place) else {
        return;
    };
    let length = bytes[from..].iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len() - from);
    let number = NUMBERS[random.below(NUMBERS.len())];
    bytes.splice(from..from + length, number.bytes());
}

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_find_a_reader_that_panics() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("good"), "size = 10").expect("the folder is ours");
        let outcome = catch_unwind(|| {
            target("fuzz test", folder.path(), |bytes| {
                let text = String::from_utf8_lossy(bytes);
                assert!(!text.contains("65536"), "a size that is too large");
            });
        });
        assert!(outcome.is_err(), "no mutation of the number was tried");
        let _ = std::fs::remove_file(Path::new(KEPT).join("fuzz-test-last"));
    }
}
