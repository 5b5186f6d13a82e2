//! System V shared memory that a killed server leaves in the kernel (PostgreSQL keeps a small segment as its interlock).
//!
//! Segments of processes that ended in good order are gone already; this is for the others.

use super::process::ProcessIdentity;

/// One line of /proc/sysvipc/shm.
struct Segment {
    id: String,
    creator: u32,
    attached: u32,
}

impl Segment {
    /// Columns: key shmid perms size cpid lpid nattch …
    fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split_whitespace();
        let id = columns.nth(1)?.to_owned();
        let creator = columns.nth(2)?.parse().ok()?;
        let attached = columns.nth(1)?.parse().ok()?;
        Some(Self { id, creator, attached })
    }
}

/// Removes the segments that these processes made, where nobody is attached and no process has the creator's id now.
/// To be called when the processes are gone. What cannot be removed (a few bytes) is left.
pub(super) fn remove_left_by(processes: &[ProcessIdentity]) {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    for segment in table.lines().skip(1).filter_map(Segment::parse) {
        let ours = processes.iter().any(|process| {
            process.pid == segment.creator
                && ProcessIdentity::of(process.pid).is_none_or(|now| now == *process)
        });
        if ours && segment.attached == 0 {
            let removed = std::process::Command::new("ipcrm").args(["-m", &segment.id]).output();
            if let Err(error) = removed {
                tracing::debug!(%error, segment = segment.id, "shared memory could not be removed");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(id: &str) -> bool {
        let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        table.lines().skip(1).filter_map(Segment::parse).any(|segment| segment.id == id)
    }

    #[test]
    fn only_the_segments_of_the_given_processes_go() {
        let maker = std::process::Command::new("ipcmk")
            .args(["-M", "64"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let creator = ProcessIdentity { pid: maker.id(), start_ticks: 0 };
        let printed = maker.wait_with_output().unwrap().stdout;
        let printed = String::from_utf8(printed).unwrap();
        let id = printed.trim().rsplit(' ').next().unwrap();
        assert!(has(id));
        let stranger = ProcessIdentity { pid: std::process::id(), start_ticks: 0 };
        remove_left_by(&[stranger]);
        assert!(has(id));
        remove_left_by(&[creator]);
        assert!(!has(id));
    }
}
