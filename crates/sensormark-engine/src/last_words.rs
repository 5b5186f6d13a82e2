//! What a process said last on standard error. The message of its end repeats it.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much is kept, in bytes.
const KEPT_BYTES: usize = 16_384;

/// The end of a process's standard error.
pub(super) struct LastWords {
    kept: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl LastWords {
    /// Reads this on a thread of its own until it ends.
    ///
    /// # Errors
    /// When the thread cannot be had.
    pub(super) fn of(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeping = Arc::clone(&kept);
        let reading = thread::Builder::new().spawn(move || keep_tail(&mut source, &keeping))?;
        Ok(Self { kept, reading })
    }

    /// What was said, without space around it. What is yet on its way is waited for until then.
    pub(super) fn text(&self, deadline: Instant) -> String {
        while !self.reading.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let kept = self.kept.lock();
        let text = kept.map(|kept| String::from_utf8_lossy(&kept).trim().to_owned());
        text.unwrap_or_default()
    }
}

fn keep_tail(source: &mut impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0_u8; 4_096];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if let Ok(mut kept) = kept.lock() {
            kept.extend_from_slice(&buffer[..count]);
            let excess = kept.len().saturating_sub(KEPT_BYTES);
            kept.drain(..excess);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says one word, but late.
    struct Late(bool);

    impl Read for Late {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Ok(0);
            }
            thread::sleep(Duration::from_millis(200));
            (&b" gone\n"[..]).read(buffer)
        }
    }

    #[test]
    fn words_on_their_way_are_waited_for() {
        let words = LastWords::of(Late(false)).unwrap();
        assert_eq!(words.text(Instant::now()), "");
        assert_eq!(words.text(Instant::now() + Duration::from_secs(20)), "gone");
    }

    #[test]
    fn the_end_of_much_is_kept() {
        let much = [vec![b'a'; 3 * KEPT_BYTES], b"end".to_vec()].concat();
        let words = LastWords::of(io::Cursor::new(much)).unwrap();
        let text = words.text(Instant::now() + Duration::from_secs(20));
        assert!(text.len() == KEPT_BYTES && text.ends_with("aend"), "{}", text.len());
    }
}
