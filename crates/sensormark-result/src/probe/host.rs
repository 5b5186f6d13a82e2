//! Counters of the whole host: processors, memory, swap, one disk, the loopback interface. They are read, not
//! judged: `disturbance` does that, from two of these and what our own trees used.

use std::path::{Path, PathBuf};

use procfs::{Current, CurrentSI, KernelStats, LoadAverage, Meminfo};
use serde::{Deserialize, Serialize};

use super::device;
use super::error::ProbeError;
use super::limits;
use super::table::{ProcessTable, tick_ns};

/// The unit of sectors in `/proc/diskstats`, whatever the disk's own is.
const SECTOR_BYTES: u64 = 512;

/// The host at one time. Counters are since boot; gauges (`load_one`, `memory_…`) are of now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Processors online.
    pub processors: u64,
    /// User mode, niced included, of all processors.
    pub cpu_user_ns: u64,
    /// System mode, interrupts included.
    pub cpu_system_ns: u64,
    /// Idle while a disk was waited for.
    pub cpu_iowait_ns: u64,
    /// Idle otherwise.
    pub cpu_idle_ns: u64,
    /// Wanted, and given to another guest by the hypervisor.
    pub cpu_steal_ns: u64,
    /// The kernel's own threads (writeback, network), which mostly work for the processes measured.
    pub kernel_threads_ns: u64,
    /// Context switches.
    pub context_switches: u64,
    /// Load average over one minute.
    pub load_one: f64,
    /// Memory of the machine.
    pub memory_total_bytes: u64,
    /// Memory that a program could get without swapping.
    pub memory_available_bytes: u64,
    /// Page cache.
    pub memory_cached_bytes: u64,
    /// Pages that are yet to be written to disk.
    pub memory_dirty_bytes: u64,
    /// Read back from swap.
    pub swap_in_bytes: u64,
    /// Written to swap.
    pub swap_out_bytes: u64,
    /// The disk below the data folder; `None` when there is none.
    pub disk: Option<DiskCounters>,
    /// Bytes over the loopback interface, each counted once (sent), of every program of the host.
    pub loopback_bytes: u64,
    /// Packets over the loopback interface.
    pub loopback_packets: u64,
    /// Periods in which the control group that limits this process most has worked; `None` without such a limit.
    pub group_periods: Option<u64>,
    /// Periods in which the kernel held that group back.
    pub held_back_periods: Option<u64>,
}

/// One disk, from `/proc/diskstats`: everybody's I/O, the kernel's journal included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Flushes completed (`None` before Linux 5.5). The kernel merges flushes that wait for each other, so this is at
    /// most the number of calls to fsync.
    pub flushes: Option<u64>,
    /// Time spent flushing, summed over flushes.
    pub flush_ns: Option<u64>,
    /// Time in which the disk had something to do.
    pub busy_ns: u64,
}

impl DiskCounters {
    /// Two disks together; the time in which they had something to do is that of the busier one.
    fn plus(&self, other: &Self) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            writes: self.writes + other.writes,
            written_bytes: self.written_bytes + other.written_bytes,
            flushes: both(self.flushes, other.flushes),
            flush_ns: both(self.flush_ns, other.flush_ns),
            busy_ns: self.busy_ns.max(other.busy_ns),
        }
    }
}

/// Reads the host.
#[derive(Debug, Clone)]
pub struct HostSampler {
    disks: Vec<String>,
    group: Option<PathBuf>,
}

impl HostSampler {
    /// A sampler that follows the disks below these folders (of data, of logs), each disk once.
    ///
    /// # Errors
    /// When a folder is not there.
    pub fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Self, ProbeError> {
        let mut disks = Vec::new();
        for folder in folders {
            let found = device::of_folder(folder)?.device;
            disks.extend(found.filter(|disk| !disks.contains(disk)));
        }
        let group = limits::periods_file();
        Ok(Self { disks, group })
    }

    /// The counters of all disks together; none where one of them cannot be read.
    fn disk(&self) -> Option<DiskCounters> {
        let mut all = self.disks.iter().map(|disk| disk_counters(disk));
        let first = all.next()??;
        all.try_fold(first, |sum, next| Some(sum.plus(&next?)))
    }

    /// Reads all counters. The table gives the kernel's own threads.
    ///
    /// # Errors
    /// When `/proc/stat` or `/proc/meminfo` cannot be read; what else is missing is zero or `None`.
    pub fn sample(&self, table: &ProcessTable) -> Result<HostSample, ProbeError> {
        let stat = KernelStats::current().map_err(ProbeError::proc("stat"))?;
        let memory = Meminfo::current().map_err(ProbeError::proc("meminfo"))?;
        let tick = tick_ns();
        let cpu = &stat.total;
        let interrupts = cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
        let (swap_in_bytes, swap_out_bytes) = swapped_bytes();
        let (loopback_bytes, loopback_packets) = loopback();
        let periods = self.group.as_deref().and_then(limits::periods);
        Ok(HostSample {
            processors: stat.cpu_time.len() as u64,
            cpu_user_ns: (cpu.user + cpu.nice) * tick,
            cpu_system_ns: (cpu.system + interrupts) * tick,
            cpu_iowait_ns: cpu.iowait.unwrap_or(0) * tick,
            cpu_idle_ns: cpu.idle * tick,
            cpu_steal_ns: cpu.steal.unwrap_or(0) * tick,
            kernel_threads_ns: table.kernel_threads_ns(),
            context_switches: stat.ctxt,
            load_one: LoadAverage::current().map_or(0.0, |load| f64::from(load.one)),
            memory_total_bytes: memory.mem_total,
            memory_available_bytes: memory.mem_available.unwrap_or(memory.mem_free),
            memory_cached_bytes: memory.cached,
            memory_dirty_bytes: memory.dirty,
            swap_in_bytes,
            swap_out_bytes,
            disk: self.disk(),
            loopback_bytes,
            loopback_packets,
            group_periods: periods.map(|(all, _)| all),
            held_back_periods: periods.map(|(_, held_back)| held_back),
        })
    }
}

fn swapped_bytes() -> (u64, u64) {
    let counters = procfs::vmstat().unwrap_or_default();
    let pages = |name: &str| {
        let count = counters.get(name).copied().unwrap_or(0);
        u64::try_from(count).unwrap_or(0)
    };
    let page = procfs::page_size();
    (pages("pswpin") * page, pages("pswpout") * page)
}

fn loopback() -> (u64, u64) {
    let interfaces = procfs::net::dev_status().unwrap_or_default();
    interfaces.get("lo").map_or((0, 0), |lo| (lo.sent_bytes, lo.sent_packets))
}

fn disk_counters(name: &str) -> Option<DiskCounters> {
    let disks = procfs::diskstats().ok()?;
    let disk = disks.into_iter().find(|disk| disk.name == name)?;
    let ns = |milliseconds: u64| milliseconds * 1_000_000;
    Some(DiskCounters {
        reads: disk.reads,
        read_bytes: disk.sectors_read * SECTOR_BYTES,
        writes: disk.writes,
        written_bytes: disk.sectors_written * SECTOR_BYTES,
        flushes: disk.flushes,
        flush_ns: disk.time_flushing.map(ns),
        busy_ns: ns(disk.time_in_progress),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_processors_memory_and_time() {
        let table = ProcessTable::scan().expect("proc");
        let sampler = HostSampler::new(None).expect("sampler");
        let host = sampler.sample(&table).expect("sample");
        assert!(host.processors >= 1 && host.memory_total_bytes > host.memory_available_bytes);
        assert!(host.cpu_user_ns + host.cpu_system_ns + host.cpu_idle_ns > 0);
        assert_eq!(host.disk, None);
    }
}
