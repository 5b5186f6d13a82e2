//! One role's processes: who they are now, and what they have used since the probe was attached. It takes one figure
//! at a time from the kernel and adds up; it does not keep a history (the recorder does) and judges nothing.
//!
//! CPU. The figure is a sum over live processes of user + system + waited children's time. What ended processes used that nobody of the tree waited for is
//! added. The baseline at attachment is subtracted. The fields `user` and `system` come in ticks of 10 ms. The field `cpu_ns` is in nanoseconds from the
//! scheduler's account of each thread (`schedstat`), corrected by ticks where a thread ended unseen. A thread's account is brought up to date at each timer
//! tick (1 to 10 ms) and whenever it leaves the core. So a difference of two samples is exact to about a tick of the timer for each thread that was running
//! just then. Each process, or process with a thread, that ended between the samples adds an error of up to two ticks of 10 ms.
//!
//! Storage. `read_bytes` and `write_bytes` of `/proc/PID/io` are pages that had to be fetched, and pages dirtied. So a page that is overwritten before it
//! reaches the disk counts once, and one that is truncated again is in `cancelled_write_bytes`. Journal and metadata writes of the filesystem are the kernel's,
//! not in it.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::control_group::ControlGroup;
use super::error::ProbeError;
use super::exited_processes::{Account, Counters, ExitedProcesses};
use super::memory::{self, NotPermitted};
use super::process_storage::{storage_of_process, storage_of_threads, storage_only};
use super::sock_diag::{self, TcpConnection};
use super::table::{ProcessRow, ProcessTable};
use super::threads::{ThreadClock, ThreadCounters};
use super::wire::{WireCounter, WireSample, WireScope};

/// Which processes a tree holds besides its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The root alone, without its children's time: for the coordinator, whose children have roles of their own.
    Process,
    /// The root and its descendants. A descendant once seen stays, even when its parent dies and init adopts it.
    Descendants,
    /// Descendants, and all processes of this process group: for a server that leaves its parent behind.
    Group(i32),
    /// Descendants, and all processes of this session.
    Session(i32),
    /// Descendants, and all processes of this control group: for a unit or a container.
    ControlGroup(ControlGroup),
}

/// What all trees of one sample share: a table of processes and, when asked for, a listing of connections.
#[derive(Debug)]
pub struct Scan {
    /// Every process of the host.
    pub table: ProcessTable,
    connections: Option<Result<Vec<TcpConnection>, String>>,
}

impl Scan {
    /// Reads the table of processes now.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn now() -> Result<Self, ProbeError> {
        Ok(Self { table: ProcessTable::scan()?, connections: None })
    }

    fn connections(&mut self) -> Result<&[TcpConnection], String> {
        self.connections
            .get_or_insert_with(|| sock_diag::connections().map_err(|error| error.to_string()))
            .as_deref()
            .map_err(Clone::clone)
    }
}

/// What a tree has used since it was attached, and what it holds now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeSample {
    /// Live processes.
    pub processes: u64,
    /// Live threads.
    pub threads: u64,
    /// CPU time since attachment; the finest that the kernel gives. Never falls.
    pub cpu_ns: u64,
    /// CPU time in user mode, in ticks. With `cpu_system_ns` it may differ from `cpu_ns` by two ticks a process.
    pub cpu_user_ns: u64,
    /// CPU time in system mode, in ticks.
    pub cpu_system_ns: u64,
    /// Time in which threads were ready to run and had no core. Children that were never sampled are not in it.
    pub cpu_wait_ns: u64,
    /// Times that a thread was put on a core. Children that were never sampled are not in it.
    pub context_switches: u64,
    /// Anonymous memory, summed over processes.
    pub anonymous_bytes: u64,
    /// Pages of files and of shared memory: the largest of any one process, because most are the same pages.
    pub shared_bytes: u64,
    /// `anonymous_bytes` + `shared_bytes`.
    pub resident_bytes: u64,
    /// Swapped-out anonymous memory.
    pub swapped_bytes: u64,
    /// Largest `resident_bytes` of any sample so far. Peaks between samples are not seen: see `high_water_bytes`.
    pub peak_resident_bytes: u64,
    /// The kernel's own high-water mark (since its start) of the process for which it is largest.
    pub high_water_bytes: u64,
    /// Proportional set size, summed; only where it was asked for.
    pub proportional_bytes: Option<u64>,
    /// Fetched from storage. `None`: not permitted for some process.
    pub storage_read_bytes: Option<u64>,
    /// Pages dirtied. `None`: not permitted for some process.
    pub storage_written_bytes: Option<u64>,
    /// Dirtied pages that were dropped before they were written.
    pub storage_cancelled_bytes: Option<u64>,
    /// TCP connections; `None` when not asked for or not possible.
    pub wire: Option<WireSample>,
    /// Why a figure is missing, if one is.
    pub notes: Vec<String>,
}

/// Follows the processes of one role.
#[derive(Debug)]
pub struct ProcessTree {
    role: String,
    root: i32,
    scope: Scope,
    /// Every process of the host at attachment, with its start: what is not among them began later.
    earlier: HashMap<i32, u64>,
    members: HashMap<i32, Account>,
    clocks: HashMap<i32, ThreadClock>,
    exited: ExitedProcesses,
    ended_threads: ThreadCounters,
    baseline: Option<Baseline>,
    late_baseline: Counters,
    last_cpu_ns: u64,
    peak_resident_bytes: u64,
    storage_denied: bool,
    wire: Option<WireCounter>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Baseline {
    counters: Counters,
    wait_ns: u64,
    switches: u64,
}

/// Sums over live processes while one sample is taken.
#[derive(Debug, Default)]
struct Tally {
    counters: Counters,
    wait_ns: u64,
    switches: u64,
}

impl ProcessTree {
    /// Attaches to the live process `root` and takes the baseline: what it had used before does not count.
    ///
    /// # Errors
    /// When there is no such process, or `/proc` cannot be read.
    pub fn attach(
        role: impl Into<String>,
        root: i32,
        scope: Scope,
        wire: Option<WireScope>,
    ) -> Result<Self, ProbeError> {
        let role = role.into();
        let mut scan = Scan::now()?;
        if scan.table.get(root).is_none() {
            return Err(ProbeError::NoSuchProcess { pid: root, role });
        }
        let earlier = scan.table.iter().map(|row| (row.pid, row.start_ticks));
        let mut tree = Self {
            role,
            root,
            scope,
            earlier: earlier.collect(),
            members: HashMap::new(),
            clocks: HashMap::new(),
            exited: ExitedProcesses::default(),
            ended_threads: ThreadCounters::default(),
            baseline: None,
            late_baseline: Counters::default(),
            last_cpu_ns: 0,
            peak_resident_bytes: 0,
            storage_denied: false,
            wire: wire.map(WireCounter::new),
        };
        tree.sample(&mut scan, false);
        Ok(tree)
    }

    /// Goes on with the session that this process leads, a server that was started again, as the same tree: what it uses adds up.
    pub fn follow(&mut self, root: i32) {
        self.root = root;
        self.scope = Scope::Session(root);
    }

    /// The role that was given.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The root's process id.
    #[must_use]
    pub fn root(&self) -> i32 {
        self.root
    }

    /// The processes that were alive at the last sample.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.members.keys().copied()
    }

    /// Reads all figures. `proportional` asks for the proportional set size too, which is dear.
    pub fn sample(&mut self, scan: &mut Scan, proportional: bool) -> TreeSample {
        let mut rows = self.find_members(&scan.table);
        let mut sample = TreeSample::default();
        let mut tally = Tally::default();
        let mut now = HashMap::with_capacity(rows.len());
        // Each is read again, whole, one after another from parent to child. What a child used is then in its own figures
        // or, from the next sample on, in its parent's, but never in both. Those that ended meanwhile are left out.
        rows.retain_mut(|row| {
            let Some(again) = row.read_again() else {
                return false;
            };
            *row = again;
            let account = self.read_process(row, &mut sample, &mut tally);
            now.insert(row.pid, account);
            true
        });
        self.let_go(&now);
        self.members = now;
        self.finish_usage(&tally, &mut sample);
        sample.resident_bytes = sample.anonymous_bytes + sample.shared_bytes;
        self.peak_resident_bytes = self.peak_resident_bytes.max(sample.resident_bytes);
        sample.peak_resident_bytes = self.peak_resident_bytes;
        if proportional {
            read_proportional(&rows, &mut sample);
        }
        self.read_wire(scan, &rows, &mut sample);
        sample
    }

    /// The root, what was known and still lives, and whatever descends from those or is in the group or session, parents
    /// first.
    fn find_members(&self, table: &ProcessTable) -> Vec<ProcessRow> {
        let is_same = |row: &ProcessRow| {
            self.members.get(&row.pid).is_some_and(|known| known.start_ticks == row.start_ticks)
        };
        let first = self.baseline.is_none();
        let mut found: HashSet<i32> = table
            .iter()
            .filter(|row| is_same(row) || (first && row.pid == self.root) || self.is_grouped(row))
            .map(|row| row.pid)
            .collect();
        if self.scope != Scope::Process {
            let mut frontier: Vec<i32> = found.iter().copied().collect();
            let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
            for row in table.iter() {
                children.entry(row.parent).or_default().push(row.pid);
            }
            while let Some(pid) = frontier.pop() {
                for child in children.get(&pid).into_iter().flatten() {
                    if found.insert(*child) {
                        frontier.push(*child);
                    }
                }
            }
        }
        let rows = found.iter().filter_map(|pid| table.get(*pid).copied());
        let mut rows: Vec<ProcessRow> = rows.collect();
        rows.sort_unstable_by_key(|row| (row.start_ticks, row.pid));
        rows
    }

    fn is_grouped(&self, row: &ProcessRow) -> bool {
        match &self.scope {
            Scope::Process | Scope::Descendants => false,
            Scope::Group(group) => row.group == *group,
            Scope::Session(session) => row.session == *session,
            Scope::ControlGroup(group) => !row.is_kernel && group.holds(row.pid),
        }
    }

    fn read_process(&mut self, row: &ProcessRow, sample: &mut TreeSample, tally: &mut Tally) -> Account {
        let own_only = self.scope == Scope::Process;
        let is_new = self.earlier.get(&row.pid) != Some(&row.start_ticks);
        let known = self.members.get(&row.pid).filter(|known| known.start_ticks == row.start_ticks).copied();
        let clock = self.clocks.entry(row.pid).or_default();
        let threads = clock.read(row.pid, own_only);
        let own_ns = clock.process_ns(row.user_ns + row.system_ns, threads.run_ns, is_new);
        let (held, ignores_children) = memory::read(row.pid).unwrap_or_default();
        let before = known.map(|known| storage_only(known.total));
        let storage = if own_only {
            storage_of_threads(&threads)
        } else {
            let (storage, is_denied) = storage_of_process(row.pid);
            self.storage_denied |= is_denied;
            storage.or(before).unwrap_or_default()
        };
        let account = account(row, own_ns, ignores_children, storage, own_only);
        if known.is_none() && self.baseline.is_some() && !is_new {
            // It began before the probe and joined the tree after: what it had used is not the tree's.
            self.late_baseline += account.total;
        }
        tally.counters += account.total;
        tally.wait_ns += threads.wait_ns;
        tally.switches += threads.switches;
        sample.processes += 1;
        sample.threads += row.threads;
        sample.anonymous_bytes += held.anonymous_bytes;
        sample.swapped_bytes += held.swapped_bytes;
        sample.shared_bytes = sample.shared_bytes.max(held.shared_bytes);
        sample.high_water_bytes = sample.high_water_bytes.max(held.high_water_bytes);
        account
    }

    /// Keeps what ended processes used that no process of the tree was credited with.
    fn let_go(&mut self, now: &HashMap<i32, Account>) {
        self.exited.settle(&self.members, now);
        let ended: Vec<i32> = self
            .members
            .iter()
            .filter(|(pid, account)| {
                now.get(pid).is_none_or(|found| found.start_ticks != account.start_ticks)
            })
            .map(|(pid, _)| *pid)
            .collect();
        for pid in ended {
            if let Some(clock) = self.clocks.remove(&pid) {
                let last = clock.last();
                self.ended_threads.wait_ns += last.wait_ns;
                self.ended_threads.switches += last.switches;
            }
        }
    }

    fn finish_usage(&mut self, tally: &Tally, sample: &mut TreeSample) {
        let baseline = *self.baseline.get_or_insert(Baseline {
            counters: tally.counters,
            wait_ns: tally.wait_ns,
            switches: tally.switches,
        });
        let mut sum = tally.counters;
        sum += self.exited.sum();
        let sum = sum.saturating_sub(baseline.counters).saturating_sub(self.late_baseline);
        self.last_cpu_ns = self.last_cpu_ns.max(sum.cpu_ns);
        sample.cpu_ns = self.last_cpu_ns;
        sample.cpu_user_ns = sum.user_ns;
        sample.cpu_system_ns = sum.system_ns;
        sample.cpu_wait_ns = (tally.wait_ns + self.ended_threads.wait_ns).saturating_sub(baseline.wait_ns);
        sample.context_switches =
            (tally.switches + self.ended_threads.switches).saturating_sub(baseline.switches);
        if self.storage_denied {
            let note = "storage: /proc/PID/io of some process is not readable (other user)";
            sample.notes.push(note.to_owned());
        } else {
            sample.storage_read_bytes = Some(sum.read_bytes);
            sample.storage_written_bytes = Some(sum.written_bytes);
            sample.storage_cancelled_bytes = Some(sum.cancelled_bytes);
        }
    }

    fn read_wire(&mut self, scan: &mut Scan, rows: &[ProcessRow], sample: &mut TreeSample) {
        let Some(wire) = &mut self.wire else {
            return;
        };
        let pids: Vec<i32> = rows.iter().map(|row| row.pid).collect();
        match scan.connections() {
            Ok(connections) => sample.wire = Some(wire.sample(connections, &pids)),
            Err(what) => sample.notes.push(format!("wire: {what}")),
        }
    }
}

/// The proportional set size of all together: unknown where that of one may not be read.
fn read_proportional(rows: &[ProcessRow], sample: &mut TreeSample) {
    let mut sum = Some(0);
    for row in rows {
        match memory::proportional_bytes(row.pid) {
            Ok(bytes) => sum = sum.map(|sum: u64| sum + bytes.unwrap_or(0)),
            Err(NotPermitted) => sum = None,
        }
    }
    if sum.is_none() {
        let note = "memory: shared pages may not be divided among their users (smaps_rollup of another user's process)";
        sample.notes.push(note.to_owned());
    }
    sample.proportional_bytes = sum;
}

fn account(
    row: &ProcessRow,
    own_ns: u64,
    ignores_children: bool,
    storage: Counters,
    own_only: bool,
) -> Account {
    let mut received = storage;
    if !own_only {
        received.user_ns = row.children_user_ns;
        received.system_ns = row.children_system_ns;
        received.cpu_ns = row.children_user_ns + row.children_system_ns;
    }
    let mut total = received;
    total.cpu_ns += own_ns;
    total.user_ns += row.user_ns;
    total.system_ns += row.system_ns;
    Account { parent: row.parent, start_ticks: row.start_ticks, ignores_children, total, received }
}
