//! How many processes are heard by one listener: each rings when it has said something, by its number. A thousand processes that say nothing cost nothing.
//!
//! A ring means that there was something to hear. What was said before a process got its number is heard by listening to all of them once.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The listener's end.
pub struct Bell {
    rings: Receiver<usize>,
    /// Kept, so that waiting takes its time when all processes are gone.
    ringer: Sender<usize>,
}

/// The end of one process, which has a number when somebody listens.
#[derive(Debug, Clone, Default)]
pub struct BellRope(Arc<Mutex<Option<Hung>>>);

/// Where a process rings, and by which number.
#[derive(Debug)]
struct Hung {
    number: usize,
    ringer: Sender<usize>,
}

impl Default for Bell {
    fn default() -> Self {
        let (ringer, rings) = channel();
        Self { rings, ringer }
    }
}

impl Bell {
    /// Has a process ring by this number from now on.
    pub fn hang(&self, rope: &BellRope, number: usize) {
        let mut held = rope.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ringer = self.ringer.clone();
        *held = Some(Hung { number, ringer });
    }

    /// Waits until a process rings, and no longer than `limit`. Gives the numbers of those that rang since the last time.
    pub fn wait(&self, limit: Duration) -> Vec<usize> {
        let first = self.rings.recv_timeout(limit).ok();
        let mut numbers: Vec<usize> = first.into_iter().chain(self.rings.try_iter()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

impl BellRope {
    /// Rings, if somebody listens.
    pub fn ring(&self) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hung) = held.as_ref() {
            // A listener that is gone needs no ring.
            let _ = hung.ringer.send(hung.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn each_that_rang_is_named_once_and_the_others_are_not() {
        let bell = Bell::default();
        let ropes: Vec<BellRope> = (0..1_000).map(|_| BellRope::default()).collect();
        ropes[3].ring();
        for (number, rope) in ropes.iter().enumerate() {
            bell.hang(rope, number);
        }
        for number in [7, 500, 7] {
            ropes[number].ring();
        }
        assert_eq!(bell.wait(Duration::from_secs(5)), [7, 500]);
    }

    #[test]
    fn a_ring_ends_the_wait_and_silence_lasts_as_long_as_it_may() {
        let bell = Bell::default();
        let rope = BellRope::default();
        bell.hang(&rope, 0);
        let limit = Duration::from_millis(50);
        let begun = Instant::now();
        assert!(bell.wait(limit).is_empty());
        assert!(begun.elapsed() >= limit);
        let ringing = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            rope.ring();
        });
        let begun = Instant::now();
        assert_eq!(bell.wait(Duration::from_secs(60)), [0]);
        assert!(begun.elapsed() < Duration::from_secs(30));
        ringing.join().expect("it rings");
        // Its process is gone, and so is its end.
        let begun = Instant::now();
        assert!(bell.wait(limit).is_empty());
        assert!(begun.elapsed() >= limit, "waiting takes its time");
    }
}
