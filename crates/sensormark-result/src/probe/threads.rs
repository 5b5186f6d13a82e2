//! CPU time in nanoseconds, waiting for a core, and context switches, thread by thread, from `/proc/PID/task/TID/schedstat`. It is not the whole truth about
//! CPU, because the kernel forgets a thread's line when the thread ends. The process's own ticks forget nothing. So ticks correct the sum whenever the two
//! drift apart by more than ticks can.

use std::collections::HashMap;

use procfs::FromRead;
use procfs::process::{Io, Schedstat};

use super::table::tick_ns;

/// Counters of one thread, or a sum of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadCounters {
    pub run_ns: u64,
    pub wait_ns: u64,
    pub switches: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub cancelled_bytes: u64,
}

impl ThreadCounters {
    fn add(&mut self, other: &Self) {
        self.run_ns += other.run_ns;
        self.wait_ns += other.wait_ns;
        self.switches += other.switches;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.cancelled_bytes += other.cancelled_bytes;
    }
}

/// The threads of one process: the live ones and the sum of those that ended while they were watched.
#[derive(Debug, Default)]
pub(crate) struct ThreadClock {
    live: HashMap<i32, ThreadCounters>,
    ended: ThreadCounters,
    anchor: Option<Anchor>,
}

/// How the sum of the threads is tied to the time of the process.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    /// What threads used that the sum does not hold, as far as is known.
    offset_ns: u64,
    /// How far ticks may run ahead before they correct the offset.
    tolerance_ns: u64,
}

impl ThreadClock {
    /// Reads every thread of `pid` and returns the sum, ended ones included. With `storage`, I/O by thread too.
    pub fn read(&mut self, pid: i32, storage: bool) -> ThreadCounters {
        let mut now = HashMap::with_capacity(self.live.len());
        if let Ok(listing) = std::fs::read_dir(format!("/proc/{pid}/task")) {
            for tid in listing.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
                if let Some(counters) = read_thread(pid, tid, storage) {
                    now.insert(tid, counters);
                }
            }
        }
        self.replace(now)
    }

    fn replace(&mut self, now: HashMap<i32, ThreadCounters>) -> ThreadCounters {
        for (tid, before) in &self.live {
            // A smaller figure under the same id is another thread: ids are used again.
            if now.get(tid).is_none_or(|after| after.run_ns < before.run_ns) {
                self.ended.add(before);
            }
        }
        self.live = now;
        self.last()
    }

    /// The sum at the last reading.
    pub fn last(&self) -> ThreadCounters {
        let mut sum = self.ended;
        for counters in self.live.values() {
            sum.add(counters);
        }
        sum
    }

    /// The process's CPU time, in nanoseconds, from its ticks and the sum of its threads.
    ///
    /// At first sight the two are tied together. From then on the threads' nanoseconds count, and ticks correct them where a thread ended unseen. Ticks are
    /// truncated, never ahead of the truth. So if no thread had ended before first sight (`is_new`, or the threads' sum is no less than the ticks) the larger
    /// of the two is nearer. If one had, the tie is only as good as the ticks. Then they correct by more than two ticks (user and system) or not at all.
    pub fn process_ns(&mut self, ticks_ns: u64, threads_ns: u64, is_new: bool) -> u64 {
        let is_exact = is_new || threads_ns >= ticks_ns;
        let anchor = self.anchor.get_or_insert(Anchor {
            offset_ns: if is_exact { 0 } else { ticks_ns - threads_ns },
            tolerance_ns: if is_exact { 0 } else { 2 * tick_ns() },
        });
        let fine = threads_ns + anchor.offset_ns;
        let missing = ticks_ns.saturating_sub(fine);
        if missing > anchor.tolerance_ns {
            anchor.offset_ns += missing;
            return ticks_ns;
        }
        fine
    }
}

fn read_thread(pid: i32, tid: i32, storage: bool) -> Option<ThreadCounters> {
    let line = Schedstat::from_file(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    let mut counters = ThreadCounters {
        run_ns: line.sum_exec_runtime,
        wait_ns: line.run_delay,
        switches: line.pcount,
        ..ThreadCounters::default()
    };
    if storage && let Ok(io) = Io::from_file(format!("/proc/{pid}/task/{tid}/io")) {
        counters.read_bytes = io.read_bytes;
        counters.written_bytes = io.write_bytes;
        counters.cancelled_bytes = io.cancelled_write_bytes;
    }
    Some(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(run_ns: u64) -> ThreadCounters {
        ThreadCounters { run_ns, switches: 1, ..ThreadCounters::default() }
    }

    #[test]
    fn threads_that_ended_keep_their_last_figure() {
        let mut clock = ThreadClock::default();
        clock.replace(HashMap::from([(1, thread(10)), (2, thread(20))]));
        let sum = clock.replace(HashMap::from([(1, thread(11))]));
        assert_eq!((sum.run_ns, sum.switches), (31, 2));
        let reused = clock.replace(HashMap::from([(1, thread(5))]));
        assert_eq!(reused.run_ns, 36);
    }

    #[test]
    fn ticks_win_only_when_threads_lost_more_than_rounding() {
        let mut clock = ThreadClock::default();
        let ms = 1_000_000;
        assert_eq!(clock.process_ns(100 * ms, 40 * ms, false), 100 * ms);
        assert_eq!(clock.process_ns(110 * ms, 47 * ms, false), 107 * ms);
        assert_eq!(clock.process_ns(200 * ms, 50 * ms, false), 200 * ms);
        assert_eq!(clock.process_ns(200 * ms, 51 * ms, false), 201 * ms);
    }

    #[test]
    fn a_process_whose_threads_all_live_is_exact_and_ticks_correct_at_once() {
        let mut clock = ThreadClock::default();
        let ms = 1_000_000;
        assert_eq!(clock.process_ns(100 * ms, 107 * ms, false), 107 * ms);
        assert_eq!(clock.process_ns(110 * ms, 118 * ms, false), 118 * ms);
        assert_eq!(clock.process_ns(130 * ms, 120 * ms, false), 130 * ms);
        assert_eq!(clock.process_ns(130 * ms, 123 * ms, false), 133 * ms);
    }
}
