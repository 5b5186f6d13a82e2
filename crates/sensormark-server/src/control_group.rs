//! Where on this machine a control group that bounds memory can be made: below the program's own group, of version 1 or 2.
//!
//! It reads what the kernel says about groups and mounts. Making, reading and removing a group is in `memory_group`.

use super::group_files::{Version, event};
use super::shortage::Shortage;
use std::path::{Path, PathBuf};

/// A group below which groups with a memory limit can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parent {
    /// The interface of its files.
    pub version: Version,
    /// Its folder.
    pub folder: PathBuf,
}

impl Parent {
    /// The parent of this process's further groups.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) fn of_this_process() -> Result<Self, String> {
        let read = |path: &str| {
            std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))
        };
        let parent = Self::find(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
        rustix::fs::access(&parent.folder, rustix::fs::Access::WRITE_OK).map_err(|error| {
            format!("this user may not make a control group in {}: {error}", parent.folder.display())
        })?;
        Ok(parent)
    }

    /// The parent by what the kernel says about groups (/proc/self/cgroup) and mounts (/proc/self/mountinfo).
    fn find(groups: &str, mounts: &str) -> Result<Self, String> {
        let own = Own::find(groups, mounts)?;
        let folder = match own.version {
            Version::One => own.folder,
            Version::Two => delegated(&own.mount, &own.folder)?,
        };
        Ok(Self { version: own.version, folder })
    }
}

/// The group that counts the memory of this process.
struct Own {
    version: Version,
    /// Where groups of this kind are mounted.
    mount: PathBuf,
    folder: PathBuf,
}

impl Own {
    /// That of this process; none where the kernel has none.
    fn of_this_process() -> Option<Self> {
        let read = |path| std::fs::read_to_string(path).ok();
        Self::find(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?).ok()
    }

    /// By what the kernel says about groups and mounts.
    fn find(groups: &str, mounts: &str) -> Result<Self, String> {
        let own = groups.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            Some((parts.next()?, parts.next()?))
        });
        let mut unified = None;
        for (controllers, path) in own {
            if controllers.split(',').any(|name| name == "memory") {
                let (mount, folder) = mounted(mounts, path, |kind, options| {
                    kind == "cgroup" && options.split(',').any(|option| option == "memory")
                })
                .ok_or("the memory controller's groups are not mounted here")?;
                return Ok(Self { version: Version::One, mount, folder });
            }
            if controllers.is_empty() {
                unified = Some(path);
            }
        }
        let path = unified.ok_or("the kernel has no control groups for memory")?;
        let (mount, folder) = mounted(mounts, path, |kind, _| kind == "cgroup2")
            .ok_or("control groups of version 2 are not mounted here")?;
        Ok(Self { version: Version::Two, mount, folder })
    }

    /// The least limit of memory of the group and those above it, in bytes.
    fn limit_bytes(&self) -> Option<u64> {
        let file = match self.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        let above = self.folder.ancestors();
        let limits = above
            .take_while(|folder| folder.starts_with(&self.mount))
            .filter_map(|folder| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok());
        // Version 1 says "none" by a number near the largest.
        limits.filter(|limit| *limit < 1 << 60).min()
    }
}

/// How many processes of a group the kernel has ended for want of memory.
pub(super) fn kills(version: Version, folder: &Path) -> Option<u64> {
    let file = match version {
        Version::One => "memory.oom_control",
        Version::Two => "memory.events",
    };
    event(&std::fs::read_to_string(folder.join(file)).ok()?, "oom_kill")
}

/// The same of the group that this process is in, without the groups below it where the kernel counts them apart.
pub(super) fn own_kills() -> Option<u64> {
    let own = Own::of_this_process()?;
    let local = std::fs::read_to_string(own.folder.join("memory.events.local"));
    let local = local.ok().and_then(|text| event(&text, "oom_kill"));
    local.or_else(|| kills(own.version, &own.folder))
}

/// How short of memory the group is that this process is in.
pub(super) fn own_shortage() -> Option<Shortage> {
    let own = Own::of_this_process()?;
    Shortage::of(own.version, &own.folder)
}

/// The memory that this process's group may use, in bytes; none without a limit.
pub(super) fn own_limit_bytes() -> Option<u64> {
    Own::of_this_process()?.limit_bytes()
}

/// The mount point and the folder of a group in the first mount of this kind (file system's type and its options).
pub(super) fn mounted(
    mounts: &str,
    group: &str,
    is_it: impl Fn(&str, &str) -> bool,
) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, what) = line.split_once(" - ")?;
        let mut what = what.split(' ');
        let (kind, options) = (what.next()?, what.nth(1)?);
        if !is_it(kind, options) {
            return None;
        }
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, PathBuf::from(place.next()?));
        // In a container the mount may begin at the container's own group.
        let below = Path::new(group).strip_prefix(root).ok()?;
        Some((point.clone(), point.join(below)))
    })
}

/// The group of version 2 that hands the memory controller to the groups below it. It is the own one, or else the nearest above it. No limit may be left behind
/// on the way up. A group that holds processes cannot hand the controller on, so most often it is the own group's parent.
fn delegated(mount: &Path, own: &Path) -> Result<PathBuf, String> {
    let has = |folder: &Path, file: &str| {
        std::fs::read_to_string(folder.join(file))
            .is_ok_and(|text| text.split_whitespace().any(|name| name == "memory"))
    };
    if !has(mount, "cgroup.controllers") {
        return Err("the memory controller is not among those of version 2 (cgroup.controllers)".to_owned());
    }
    for folder in own.ancestors().take_while(|folder| folder.starts_with(mount)) {
        if has(folder, "cgroup.subtree_control") {
            return Ok(folder.to_owned());
        }
        let limit = std::fs::read_to_string(folder.join("memory.max")).unwrap_or_default();
        if !matches!(limit.trim(), "" | "max") {
            return Err(format!(
                "{} has a memory limit and hands the memory controller to no group below it (cgroup.subtree_control)",
                folder.display()
            ));
        }
    }
    Err(format!(
        "neither {} nor a group above it hands the memory controller to the groups below it (cgroup.subtree_control)",
        own.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders with files of this text.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn version_one_is_below_the_own_group() {
        let groups = "8:pids:/\n4:cpu,memory:/batch/7\n0::/\n";
        let mounts = "23 28 0:21 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n\
             24 28 0:22 / /groups/memory rw,nosuid shared:10 - cgroup cgroup rw,cpu,memory\n";
        let parent = Parent::find(groups, mounts).unwrap();
        assert_eq!(parent.version, Version::One);
        assert_eq!(parent.folder, Path::new("/groups/memory/batch/7"));
        // A container sees its own group as the mount's root.
        let inside = mounts.replace("0:22 / ", "0:22 /batch/7 ");
        let parent = Parent::find(groups, &inside).unwrap();
        assert_eq!(parent.folder, Path::new("/groups/memory"));
        let missing = Parent::find(groups, "").unwrap_err();
        assert!(missing.contains("not mounted"), "{missing}");
    }

    fn of_version_two(folder: &Path) -> Result<Parent, String> {
        let mounts = format!("23 28 0:21 / {} rw - cgroup2 cgroup2 rw\n", folder.display());
        Parent::find("0::/user.slice/run.scope\n", &mounts)
    }

    #[test]
    fn version_two_is_where_the_controller_is_handed_on() {
        let folder = tree(&[
            ("cgroup.controllers", "cpu io memory pids\n"),
            ("cgroup.subtree_control", "cpu memory\n"),
            ("user.slice/cgroup.subtree_control", "cpu memory\n"),
            ("user.slice/run.scope/cgroup.subtree_control", "\n"),
            ("user.slice/run.scope/memory.max", "max\n"),
        ]);
        let parent = of_version_two(folder.path()).unwrap();
        assert_eq!(parent.version, Version::Two);
        assert_eq!(parent.folder, folder.path().join("user.slice"));
        let own = folder.path().join("user.slice/run.scope");
        std::fs::write(own.join("memory.max"), "1048576\n").unwrap();
        let refused = of_version_two(folder.path()).unwrap_err();
        assert!(refused.contains("has a memory limit"), "{refused}");
        std::fs::write(own.join("cgroup.subtree_control"), "memory\n").unwrap();
        assert_eq!(of_version_two(folder.path()).unwrap().folder, own);
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let folder = tree(&[
            ("user.slice/memory.max", "62914560\n"),
            ("user.slice/run.scope/memory.max", "max\n"),
            ("user.slice/run.scope/memory.events", "oom 3\noom_kill 2\n"),
        ]);
        let own = Own {
            version: Version::Two,
            mount: folder.path().to_owned(),
            folder: folder.path().join("user.slice/run.scope"),
        };
        assert_eq!(own.limit_bytes(), Some(60 << 20));
        assert_eq!(kills(own.version, &own.folder), Some(2));
        assert_eq!(kills(own.version, folder.path()), None);
    }

    #[test]
    fn without_the_controller_the_reason_is_said() {
        let folder = tree(&[("cgroup.controllers", "cpu io pids\n")]);
        let refused = of_version_two(folder.path()).unwrap_err();
        assert!(refused.contains("not among those of version 2"), "{refused}");
        let nothing = Parent::find("3:cpu:/\n", "").unwrap_err();
        assert!(nothing.contains("no control groups"), "{nothing}");
    }
}
