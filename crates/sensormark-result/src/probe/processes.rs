//! The processes of a server that sensormark did not start: named by a pid, a systemd unit, a container or the TCP port that they listen on. It finds them and says
//! what is wrong where it cannot. Watching them is the work of [`ProcessTree`](super::ProcessTree).

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::str::FromStr;

use super::control_group::{ControlGroup, is_container_id};
use super::error::FindError;
use super::listeners::{self, Listener};
use super::table::ProcessTable;
use super::tree::Scope;
use super::wire::{WireScope, socket_inodes};

/// Who is passed over as the holder of a port: a proxy of Docker's, whose server is in a container.
const PROXY: &str = "docker-proxy";

/// How a server's processes are named: `pid:812`, `unit:postgresql`, `container:db`, `port:5432`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Processes {
    /// The process with this id, and its descendants.
    Pid(i32),
    /// All processes of this systemd unit.
    Unit(String),
    /// All processes of this container: its id, or its name where docker or podman can be asked.
    Container(String),
    /// Who listens on this TCP port, with its descendants.
    Port(u16),
}

/// Processes that were found.
#[derive(Debug, Clone)]
pub struct FoundProcesses {
    /// The first of them: the parent of the others, or the oldest.
    pub root: i32,
    /// Which processes belong to it.
    pub scope: Scope,
    /// The root's program, as the kernel has it (15 characters at most).
    pub program: String,
    /// TCP ports that it listens on; none where that may not be seen.
    pub ports: Vec<u16>,
    /// Which connections count.
    pub wire: WireScope,
}

impl FromStr for Processes {
    type Err = FindError;

    fn from_str(text: &str) -> Result<Self, FindError> {
        let wrong = || FindError::Unreadable { text: text.to_owned() };
        let (kind, name) = text.split_once(':').ok_or_else(wrong)?;
        let read = match kind {
            "pid" => name.parse().ok().filter(|pid| *pid > 0).map(Self::Pid),
            "port" => name.parse().ok().filter(|port| *port > 0).map(Self::Port),
            "unit" | "container" if !is_name(name) => None,
            "unit" => Some(Self::Unit(name.to_owned())),
            "container" => Some(Self::Container(name.to_owned())),
            _ => None,
        };
        read.ok_or_else(wrong)
    }
}

/// Whether a unit or a container can have this name, which is given to another program.
fn is_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"@._-:\\".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_fit)
}

impl fmt::Display for Processes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(out, "pid:{pid}"),
            Self::Unit(unit) => write!(out, "unit:{unit}"),
            Self::Container(container) => write!(out, "container:{container}"),
            Self::Port(port) => write!(out, "port:{port}"),
        }
    }
}

impl Processes {
    /// Looks for them now. Their connections are those of `port` where it is given, else of the ports that they listen on.
    ///
    /// # Errors
    /// Why there are none, and what to do.
    pub fn find(&self, port: Option<u16>) -> Result<FoundProcesses, FindError> {
        let unlisted = |error: super::ProbeError| FindError::Unlisted(error.to_string());
        let table = ProcessTable::scan().map_err(unlisted)?;
        match self {
            Self::Pid(pid) => {
                let there = table.get(*pid).filter(|row| !row.is_kernel);
                there.ok_or(FindError::NoProcess { pid: *pid })?;
                Ok(found(*pid, Scope::Descendants, &table, port))
            }
            Self::Unit(name) => {
                let unit = with_suffix(name);
                let group = ControlGroup::Unit(unit.clone());
                let root = oldest(&group, &table).ok_or(FindError::NoUnit { unit })?;
                Ok(found(root, Scope::ControlGroup(group), &table, port))
            }
            Self::Container(name) => {
                let group = ControlGroup::Container(container_id(name)?);
                let root = oldest(&group, &table).ok_or_else(|| FindError::NoContainer {
                    container: name.clone(),
                    why: "it has ended, or it runs on another machine".to_owned(),
                })?;
                Ok(found(root, Scope::ControlGroup(group), &table, port))
            }
            Self::Port(own) => {
                let root = listening(*own, &table)?;
                Ok(found(root, Scope::Descendants, &table, port.or(Some(*own))))
            }
        }
    }
}

fn found(root: i32, scope: Scope, table: &ProcessTable, port: Option<u16>) -> FoundProcesses {
    let pids: Vec<i32> = match &scope {
        Scope::ControlGroup(group) => {
            table.iter().map(|row| row.pid).filter(|pid| group.holds(*pid)).collect()
        }
        _ => vec![root],
    };
    let ports = port.map_or_else(|| ports_of(root, &pids), |port| vec![port]);
    let wire = WireScope::of_server(&ports).unwrap_or(WireScope::Sockets);
    FoundProcesses { root, scope, program: program_of(root), ports, wire }
}

/// The ports that these processes listen on, in their own network namespace.
fn ports_of(root: i32, pids: &[i32]) -> Vec<u16> {
    let inodes = socket_inodes(pids);
    let held = listeners::all_of(root).unwrap_or_default();
    let held = held.into_iter().filter(|one| inodes.contains(&one.inode));
    let mut ports: Vec<u16> = held.map(|one| one.port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The process that listens on a port, the topmost of them.
fn listening(port: u16, table: &ProcessTable) -> Result<i32, FindError> {
    let listed = listeners::all().map_err(|error| FindError::Unlisted(error.to_string()))?;
    let sockets: Vec<Listener> = listed.into_iter().filter(|one| one.port == port).collect();
    let first = sockets.first().ok_or(FindError::NobodyListens { port })?;
    let inodes: HashSet<u64> = sockets.iter().map(|one| one.inode).collect();
    let holds = |pid: i32| !socket_inodes(&[pid]).is_disjoint(&inodes);
    let mut holders: Vec<i32> =
        table.iter().filter(|row| !row.is_kernel && holds(row.pid)).map(|row| row.pid).collect();
    // The first process holds what it passes on to a unit (socket activation).
    if holders.len() > 1 {
        holders.retain(|pid| *pid != 1);
    }
    let all = holders.clone();
    let parent = |pid: i32| table.get(pid).map_or(0, |row| row.parent);
    holders.retain(|pid| !all.contains(&parent(*pid)));
    holders.sort_unstable();
    match holders.as_slice() {
        [] => Err(FindError::Hidden { port, user: user_name(first.user) }),
        all if all.iter().all(|pid| program_of(*pid) == PROXY) => Err(FindError::Passed { port }),
        [root] => Ok(*root),
        several => {
            let named = several.iter().map(|pid| format!("{} ({pid})", program_of(*pid)));
            let listed = named.collect::<Vec<_>>().join(", ");
            Err(FindError::Several { port, listed })
        }
    }
}

/// The oldest process of a control group.
fn oldest(group: &ControlGroup, table: &ProcessTable) -> Option<i32> {
    let members = table.iter().filter(|row| !row.is_kernel && group.holds(row.pid));
    let first = members.min_by_key(|row| (row.start_ticks, row.pid))?;
    Some(first.pid)
}

/// A unit's name without a suffix is a service's, as for systemctl.
fn with_suffix(name: &str) -> String {
    let kinds = [".service", ".scope", ".slice"];
    if kinds.iter().any(|kind| name.ends_with(kind)) { name.to_owned() } else { format!("{name}.service") }
}

/// A container's id; of a name docker is asked, then podman.
fn container_id(name: &str) -> Result<String, FindError> {
    if is_container_id(name) {
        return Ok(name.to_owned());
    }
    let answers = ["docker", "podman"].map(|runtime| ask(runtime, name));
    let found = answers.iter().flatten().find(|id| is_container_id(id));
    found.cloned().ok_or_else(|| FindError::NoContainer {
        container: name.to_owned(),
        why: "neither docker nor podman knows it by that name, as far as they are here and may be asked; docker ps shows names and ids".to_owned(),
    })
}

fn ask(runtime: &str, name: &str) -> Option<String> {
    let mut command = Command::new(runtime);
    command.args(["inspect", "--type", "container", "--format", "{{.Id}}", name]);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    Some(said.trim().to_owned())
}

/// The name of a process's program; empty when it has ended.
fn program_of(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    name.unwrap_or_default().trim().to_owned()
}

/// A user's name, or the number where it has none.
pub(super) fn user_name(user: u32) -> String {
    let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let is_it = |fields: &Vec<&str>| fields.get(2) == Some(&user.to_string().as_str());
    let mut named = lines.filter(is_it).map(|fields| fields[0].to_owned());
    named.next().unwrap_or_else(|| user.to_string())
}

/// The folder that a process works in, where that may be seen.
pub(super) fn working_folder(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn processes_are_read_as_they_are_written() {
        for text in ["pid:812", "port:5432", "unit:postgresql@17-main", "container:db"] {
            let read: Processes = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
        }
        for text in ["5432", "port:0", "port:x", "pid:-1", "unit:", "unit:--all", "container:a b"] {
            let read: Result<Processes, FindError> = text.parse();
            let said = read.expect_err(text).to_string();
            assert!(said.contains("write pid:NUMBER"), "{said}");
        }
    }

    #[test]
    fn who_listens_on_a_port_is_found() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("bound").port();
        let own = i32::try_from(std::process::id()).expect("a pid");
        let found = Processes::Port(port).find(None).expect("it listens");
        assert_eq!((found.root, found.wire), (own, WireScope::ServerPort(port)));
        let by_pid = Processes::Pid(own).find(None).expect("it is there");
        assert!(by_pid.ports.contains(&port), "{by_pid:?}");
        drop(socket);
        let gone = Processes::Port(port).find(None).expect_err("nobody does");
        assert_eq!(gone, FindError::NobodyListens { port });
    }

    #[test]
    fn what_is_not_there_is_said() {
        let said = |text: &str| {
            let named: Processes = text.parse().expect(text);
            named.find(None).expect_err(text).to_string()
        };
        assert!(said("pid:2147483647").contains("no process 2147483647"));
        assert!(said("unit:not-there").contains("the unit not-there.service; systemctl"));
        assert!(said("container:not-there").contains("docker ps"));
        assert!(said("container:000000000000").contains("on another machine"));
    }
}
