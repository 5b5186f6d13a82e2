//! How many processes are heard by one listener: each notifies it by its number when it has said something. A thousand silent processes cost nothing.
//!
//! A notification means that there was something to hear. What was said before a process got its number is heard by listening to all of them once.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The listener's end.
pub struct Notifications {
    receiver: Receiver<usize>,
    /// Kept, so that waiting takes its time when all processes are gone.
    sender: Sender<usize>,
}

/// The end of one process, which has a number when somebody listens.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Arc<Mutex<Option<Target>>>);

/// Where a process notifies, and by which number.
#[derive(Debug)]
struct Target {
    number: usize,
    sender: Sender<usize>,
}

impl Default for Notifications {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { receiver, sender }
    }
}

impl Notifications {
    /// Has a process notify by this number from now on.
    pub fn register(&self, notifier: &Notifier, number: usize) {
        let mut held = notifier.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = self.sender.clone();
        *held = Some(Target { number, sender });
    }

    /// Waits until a process notifies, and no longer than `limit`. Gives the numbers of those that did since the last time.
    pub fn wait(&self, limit: Duration) -> Vec<usize> {
        let first = self.receiver.recv_timeout(limit).ok();
        let mut numbers: Vec<usize> = first.into_iter().chain(self.receiver.try_iter()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

impl Notifier {
    /// Notifies, if somebody listens.
    pub fn notify(&self) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = held.as_ref() {
            // A listener that is gone needs none.
            let _ = target.sender.send(target.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn each_that_notified_is_named_once_and_the_others_are_not() {
        let notifications = Notifications::default();
        let notifiers: Vec<Notifier> = (0..1_000).map(|_| Notifier::default()).collect();
        notifiers[3].notify();
        for (number, notifier) in notifiers.iter().enumerate() {
            notifications.register(notifier, number);
        }
        for number in [7, 500, 7] {
            notifiers[number].notify();
        }
        assert_eq!(notifications.wait(Duration::from_secs(5)), [7, 500]);
    }

    #[test]
    fn a_notification_ends_the_wait_and_silence_lasts_as_long_as_it_may() {
        let notifications = Notifications::default();
        let notifier = Notifier::default();
        notifications.register(&notifier, 0);
        let limit = Duration::from_millis(50);
        let begun = Instant::now();
        assert!(notifications.wait(limit).is_empty());
        assert!(begun.elapsed() >= limit);
        let notifying = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            notifier.notify();
        });
        let begun = Instant::now();
        assert_eq!(notifications.wait(Duration::from_secs(60)), [0]);
        assert!(begun.elapsed() < Duration::from_secs(30));
        notifying.join().expect("it notifies");
        // Its process is gone, and so is its end.
        let begun = Instant::now();
        assert!(notifications.wait(limit).is_empty());
        assert!(begun.elapsed() >= limit, "waiting takes its time");
    }
}
