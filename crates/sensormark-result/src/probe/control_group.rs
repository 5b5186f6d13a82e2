//! Which processes belong to a systemd unit or a container, as the kernel says in `/proc/PID/cgroup`. Nothing is asked of systemd or of a container's runtime, and
//! both versions of control groups will do.

use std::fs;

/// A control group, by what its folder's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlGroup {
    /// A systemd unit, with its suffix: `postgresql@17-main.service`.
    Unit(String),
    /// A container, by its id or the beginning of it (12 hexadecimal digits or more).
    Container(String),
}

impl ControlGroup {
    /// Whether the process is in the group or in one below it.
    pub fn holds(&self, pid: i32) -> bool {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup"));
        groups.is_ok_and(|text| self.is_in(&text))
    }

    /// Whether one of the groups in the text of `/proc/PID/cgroup` is it.
    fn is_in(&self, text: &str) -> bool {
        let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        paths.flat_map(|path| path.split('/')).any(|folder| self.is_named(folder))
    }

    fn is_named(&self, folder: &str) -> bool {
        match self {
            Self::Unit(name) => folder == name,
            // Docker: the id, or docker-ID.scope; Podman: libpod-ID.scope; Kubernetes: cri-containerd-ID.scope.
            Self::Container(id) => {
                let name = folder.strip_suffix(".scope").unwrap_or(folder);
                let name = name.rsplit('-').next().unwrap_or(name);
                name.len() >= id.len() && is_container_id(name) && name.starts_with(id.as_str())
            }
        }
    }
}

/// Whether a text is a container's id or the beginning of one that is long enough to be unique.
pub(super) fn is_container_id(text: &str) -> bool {
    (12..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4f1c2a9be0d34f1c2a9be0d34f1c2a9be0d34f1c2a9be0d34f1c2a9be0d3aaaa";

    #[test]
    fn a_unit_is_found_in_both_versions_and_below() {
        let unit = ControlGroup::Unit("postgresql@17-main.service".to_owned());
        let two = "0::/system.slice/system-postgresql.slice/postgresql@17-main.service/inner\n";
        let one = "4:memory:/\n1:name=systemd:/system.slice/postgresql@17-main.service\n0::/\n";
        assert!(unit.is_in(two) && unit.is_in(one));
        assert!(!unit.is_in("0::/system.slice/postgresql.service\n"));
    }

    #[test]
    fn a_container_is_found_by_the_beginning_of_its_id() {
        let container = ControlGroup::Container(ID[..12].to_owned());
        for group in [
            format!("0::/docker/{ID}"),
            format!("0::/system.slice/docker-{ID}.scope"),
            format!("0::/machine.slice/libpod-{ID}.scope/container"),
            format!("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope"),
        ] {
            assert!(container.is_in(&group), "{group}");
        }
        assert!(!container.is_in("0::/docker/0000000000000000\n0::/user.slice"));
    }
}
