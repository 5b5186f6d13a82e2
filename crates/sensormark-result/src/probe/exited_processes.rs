//! What to keep of processes that have ended. The kernel moves the CPU time and the storage I/O of a child into its parent's figures when the parent waits for
//! it. It drops them when nobody of the tree does: the parent ignores `SIGCHLD`, or died first, so that init did the waiting. Here the two cases are told apart
//! from two readings, by pure functions: it reads nothing itself.

use std::collections::HashMap;
use std::ops::AddAssign;

use super::table::tick_ns;

/// Counters that wander from a child to the parent that waits for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// User and system together, the finest known; the two below are in ticks.
    pub cpu_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub cancelled_bytes: u64,
}

impl Counters {
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(other.cpu_ns),
            user_ns: self.user_ns.saturating_sub(other.user_ns),
            system_ns: self.system_ns.saturating_sub(other.system_ns),
            read_bytes: self.read_bytes.saturating_sub(other.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(other.written_bytes),
            cancelled_bytes: self.cancelled_bytes.saturating_sub(other.cancelled_bytes),
        }
    }

    /// CPU differences within the truncation of ticks (one of each reading) are no differences.
    fn without_rounding(mut self) -> Self {
        let tolerance = 2 * tick_ns();
        for ns in [&mut self.user_ns, &mut self.system_ns] {
            if *ns <= tolerance {
                *ns = 0;
            }
        }
        if self.user_ns == 0 && self.system_ns == 0 {
            self.cpu_ns = 0;
        }
        self
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.cancelled_bytes += other.cancelled_bytes;
    }
}

/// One live process of a tree, as last read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Account {
    pub parent: i32,
    pub start_ticks: u64,
    pub ignores_children: bool,
    /// Everything that its parent will be credited with: its own and its waited children's.
    pub total: Counters,
    /// The part of `total` that rises when it waits for a child. For I/O the kernel keeps no such part: all of it.
    pub received: Counters,
}

/// What ended processes used and no living process of the tree shows.
///
/// Processes are read one after another, parents first. So a child can end and be waited for between its parent's reading and its own. Then the parent's
/// figures hold it only from the next reading on. A claim on a living ancestor therefore waits for one reading more before it counts as lost for good.
#[derive(Debug, Default)]
pub(crate) struct ExitedProcesses {
    lost: Counters,
    /// By ancestor, what it had not been credited with at the last reading.
    claims: HashMap<i32, Counters>,
}

impl ExitedProcesses {
    /// Takes up the processes that ended between two readings of the tree.
    pub fn settle(&mut self, before: &HashMap<i32, Account>, now: &HashMap<i32, Account>) {
        let mut waiting = std::mem::take(&mut self.claims);
        for (pid, account) in before {
            if same(*pid, account, now) {
                continue;
            }
            // Who died with claims open passes them on with its own figures: nobody knows whether it was credited.
            let mut claim = waiting.remove(pid).unwrap_or_default();
            claim += account.total;
            match heir(account, before, now) {
                Some(ancestor) => *self.claims.entry(ancestor).or_default() += claim,
                None => self.lost += claim,
            }
        }
        for ancestor in waiting.keys() {
            self.claims.entry(*ancestor).or_default();
        }
        for (ancestor, claim) in &mut self.claims {
            let old = waiting.get(ancestor).copied().unwrap_or_default();
            let credit = now[ancestor].received.saturating_sub(before[ancestor].received);
            self.lost += old.saturating_sub(credit).without_rounding();
            *claim = claim.saturating_sub(credit.saturating_sub(old)).without_rounding();
        }
        self.claims.retain(|_, claim| *claim != Counters::default());
    }

    /// All of it, claims that still wait included.
    pub fn sum(&self) -> Counters {
        let mut sum = self.lost;
        for claim in self.claims.values() {
            sum += *claim;
        }
        sum
    }
}

fn same(pid: i32, account: &Account, now: &HashMap<i32, Account>) -> bool {
    now.get(&pid).is_some_and(|found| found.start_ticks == account.start_ticks)
}

/// The nearest ancestor in the tree that still lives and that can have waited.
fn heir(account: &Account, before: &HashMap<i32, Account>, now: &HashMap<i32, Account>) -> Option<i32> {
    let mut parent = account.parent;
    for _ in 0..before.len() {
        let above = before.get(&parent)?;
        if above.ignores_children {
            return None;
        }
        if same(parent, above, now) {
            return Some(parent);
        }
        parent = above.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn account(parent: i32, own: u64, children: u64) -> Account {
        let received =
            Counters { cpu_ns: children * SECOND, user_ns: children * SECOND, ..Counters::default() };
        let mut total = received;
        total.user_ns += own * SECOND;
        total.cpu_ns += own * SECOND;
        Account { parent, start_ticks: 7, ignores_children: false, total, received }
    }

    fn sum(exited: &ExitedProcesses) -> u64 {
        let sum = exited.sum();
        assert_eq!(sum.cpu_ns, sum.user_ns);
        sum.cpu_ns / SECOND
    }

    /// What is kept after each of these readings.
    fn kept_after(readings: &[&[(i32, Account)]]) -> Vec<u64> {
        let map = |list: &[(i32, Account)]| list.iter().copied().collect();
        let mut exited = ExitedProcesses::default();
        let pairs = readings.windows(2).map(|pair| {
            exited.settle(&map(pair[0]), &map(pair[1]));
            sum(&exited)
        });
        pairs.collect()
    }

    fn kept_seconds(before: &[(i32, Account)], now: &[(i32, Account)]) -> u64 {
        let kept = kept_after(&[before, now, now, now]);
        assert!(kept.iter().all(|each| *each == kept[0]), "{kept:?}");
        kept[0]
    }

    #[test]
    fn a_child_that_is_credited_one_reading_late_is_counted_once() {
        let parent = |received| (1, account(0, 1, received));
        let child = (2, account(1, 5, 0));
        let late = [&[parent(0), child][..], &[parent(0)], &[parent(5)]];
        assert_eq!(kept_after(&late), [5, 0]);
        // The next child ends while the credit for the first arrives.
        let next = (3, account(1, 4, 0));
        let chain = [&[parent(0), child][..], &[parent(0), next], &[parent(5)], &[parent(9)], &[parent(9)]];
        assert_eq!(kept_after(&chain), [5, 4, 0, 0]);
    }

    #[test]
    fn what_ticks_cut_off_does_not_add_up() {
        let parent = |received| (1, account(0, 1, received));
        let child = |pid| {
            let mut child = account(1, 1, 0);
            child.total.cpu_ns += 9_000_000;
            (pid, child)
        };
        let readings: Vec<HashMap<i32, Account>> = [
            vec![parent(0), child(2)],
            vec![parent(1), child(3)],
            vec![parent(2), child(4)],
            // Two end, and only one of them is waited for.
            vec![parent(3), child(5), child(6)],
            vec![parent(4)],
            vec![parent(4)],
        ]
        .map(|reading| reading.into_iter().collect())
        .into();
        let mut exited = ExitedProcesses::default();
        for pair in readings.windows(2) {
            exited.settle(&pair[0], &pair[1]);
        }
        assert_eq!(exited.sum().cpu_ns, SECOND + 2 * 9_000_000);
    }

    #[test]
    fn a_claim_on_a_parent_that_ends_goes_to_who_waits_for_that() {
        let root = |received| (1, account(0, 1, received));
        let parent = (2, account(1, 2, 0));
        let child = (3, account(2, 5, 0));
        let both = [&[root(0), parent, child][..], &[root(0), parent], &[root(0)], &[root(7)], &[root(7)]];
        assert_eq!(kept_after(&both), [5, 7, 0, 0]);
        let never = [&[root(0), parent, child][..], &[root(0), parent], &[root(2)], &[root(2)]];
        assert_eq!(kept_after(&never), [5, 5, 5]);
    }

    #[test]
    fn a_child_that_was_waited_for_is_not_kept_as_well() {
        let before = [(1, account(0, 1, 0)), (2, account(1, 5, 0))];
        assert_eq!(kept_seconds(&before, &[(1, account(0, 1, 6))]), 0);
    }

    #[test]
    fn a_child_that_nobody_waited_for_is_kept() {
        let before = [(1, account(0, 1, 0)), (2, account(1, 5, 0))];
        assert_eq!(kept_seconds(&before, &[(1, account(0, 1, 0))]), 5);
        let mut deaf = account(0, 1, 3);
        deaf.ignores_children = true;
        let before = [(1, deaf), (2, account(1, 5, 0))];
        assert_eq!(kept_seconds(&before, &[(1, deaf)]), 5);
    }

    #[test]
    fn an_orphan_that_init_waited_for_is_kept() {
        let before = [(1, account(0, 1, 0)), (2, account(77, 5, 0))];
        assert_eq!(kept_seconds(&before, &[(1, account(0, 1, 0))]), 5);
    }

    #[test]
    fn a_chain_that_ended_together_goes_to_the_living_ancestor() {
        let before = [(1, account(0, 1, 0)), (2, account(1, 2, 0)), (3, account(2, 4, 0))];
        assert_eq!(kept_seconds(&before, &[(1, account(0, 1, 6))]), 0);
        // The middle one died first: init waited for the last, and only two seconds arrived.
        assert_eq!(kept_seconds(&before, &[(1, account(0, 1, 2))]), 4);
    }

    #[test]
    fn a_root_that_ended_is_kept_whole_and_a_reused_pid_is_another_process() {
        let before = [(1, account(0, 3, 2))];
        assert_eq!(kept_seconds(&before, &[]), 5);
        let mut other = account(0, 0, 0);
        other.start_ticks = 8;
        assert_eq!(kept_seconds(&before, &[(1, other)]), 5);
    }
}
