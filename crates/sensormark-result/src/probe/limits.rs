//! What this process may use of the machine: cores it may run on, and limits of its control group (version 1 or 2).
//! It reads them; it does not set them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::device::attribute;
use procfs::{Current, Meminfo};

/// Limits of this process. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Logical processors that it may run on.
    pub allowed_cores: Option<u64>,
    /// Processor time a second, in cores, of its control group or one above.
    pub cgroup_cores: Option<f64>,
    /// Memory of its control group or one above.
    pub cgroup_memory_bytes: Option<u64>,
}

/// Version 1 writes "no limit" as the largest multiple of a page; above this it is none.
const NO_LIMIT_BYTES: u64 = 1 << 60;

impl Limits {
    /// The limits of this process, which those that it starts inherit.
    pub fn of_this_process() -> Self {
        read()
    }

    /// Memory that may be used: that of the host, or less by its control group. None where the host does not say.
    pub fn memory_bytes(&self) -> Option<u64> {
        let host = Meminfo::current().ok()?.mem_total;
        Some(self.cgroup_memory_bytes.map_or(host, |limit| limit.min(host)))
    }
}

/// The file in which the kernel counts periods of the group that limits this process most; none without such a limit.
pub(super) fn periods_file() -> Option<PathBuf> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let root = Path::new("/sys/fs/cgroup");
    let mut folders: Vec<PathBuf> = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        if controllers.is_empty() {
            folders.extend(upward(root, path));
            folders.extend(upward(&root.join("unified"), path));
        }
        let cpu = controllers.split(',').find(|name| *name == "cpu");
        folders.extend(cpu.into_iter().flat_map(|cpu| upward(&root.join(cpu), path)));
    }
    let cores = |folder: &PathBuf| cores_of_version_two(folder).or(cores_of_version_one(folder));
    let limited = folders.iter().filter_map(|folder| Some((cores(folder)?, folder)));
    let tightest = limited.min_by(|one, other| one.0.total_cmp(&other.0));
    tightest.map(|(_, folder)| folder.join("cpu.stat"))
}

/// Periods in which the group worked, and in which it was held back, since the group was made.
pub(super) fn periods(file: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(file).ok()?;
    let count = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
    };
    Some((count("nr_periods")?, count("nr_throttled")?))
}

fn read() -> Limits {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let mut limits = Limits { allowed_cores: allowed.map(|set| u64::from(set.count())), ..Limits::default() };
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        if controllers.is_empty() {
            for mount in [root.to_path_buf(), root.join("unified")] {
                for folder in upward(&mount, path) {
                    lower(&mut limits.cgroup_cores, cores_of_version_two(&folder));
                    lower(&mut limits.cgroup_memory_bytes, bytes(&folder, "memory.max"));
                }
            }
        }
        for controller in controllers.split(',') {
            for folder in upward(&root.join(controller), path) {
                if controller == "cpu" {
                    lower(&mut limits.cgroup_cores, cores_of_version_one(&folder));
                } else if controller == "memory" {
                    let limit = bytes(&folder, "memory.limit_in_bytes");
                    lower(&mut limits.cgroup_memory_bytes, limit);
                }
            }
        }
    }
    limits
}

/// The group's folder and all above it: the tightest of their limits holds.
fn upward(mount: &Path, path: &str) -> Vec<PathBuf> {
    let folder = mount.join(path.trim_start_matches('/'));
    folder.ancestors().take_while(|above| above.starts_with(mount)).map(Path::to_path_buf).collect()
}

fn lower<T: PartialOrd + Copy>(limit: &mut Option<T>, found: Option<T>) {
    if let Some(found) = found
        && limit.is_none_or(|limit| found < limit)
    {
        *limit = Some(found);
    }
}

/// `cpu.max`: quota (or max) and period, in µs.
fn cores_of_version_two(folder: &Path) -> Option<f64> {
    let text = attribute(folder, "cpu.max")?;
    let (quota, period) = text.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// `cpu.cfs_quota_us` (−1: none) and `cpu.cfs_period_us`.
fn cores_of_version_one(folder: &Path) -> Option<f64> {
    let quota: f64 = attribute(folder, "cpu.cfs_quota_us")?.parse().ok()?;
    let period: f64 = attribute(folder, "cpu.cfs_period_us")?.parse().ok()?;
    (quota > 0.0).then_some(quota / period)
}

fn bytes(folder: &Path, name: &str) -> Option<u64> {
    let limit: u64 = attribute(folder, name)?.parse().ok()?;
    (limit < NO_LIMIT_BYTES).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_all_groups_above_holds() {
        let mount = tempfile::tempdir().expect("folder");
        let inner = mount.path().join("outer/inner");
        std::fs::create_dir_all(&inner).expect("folders");
        std::fs::write(inner.join("cpu.max"), "max 100000\n").expect("write");
        std::fs::write(mount.path().join("outer/cpu.max"), "150000 100000\n").expect("write");
        std::fs::write(inner.join("memory.max"), "1048576\n").expect("write");
        let mut cores = None;
        let folders = upward(mount.path(), "/outer/inner");
        assert_eq!(folders.len(), 3);
        for folder in &folders {
            lower(&mut cores, cores_of_version_two(folder));
        }
        assert_eq!(cores, Some(1.5));
        assert_eq!(bytes(&inner, "memory.max"), Some(1_048_576));
    }

    #[test]
    fn periods_are_read_as_the_kernel_writes_them() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("cpu.stat");
        assert_eq!(periods(&file), None);
        let text = "nr_periods 35\nnr_throttled 34\nthrottled_time 2345678901\n";
        std::fs::write(&file, text).expect("write");
        assert_eq!(periods(&file), Some((35, 34)));
    }

    #[test]
    fn this_process_may_run_somewhere() {
        assert!(read().allowed_cores.is_some_and(|cores| cores >= 1));
    }
}
