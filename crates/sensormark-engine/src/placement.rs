//! Where the roles of a run are placed: on this machine, or by launchers on other hosts.

use super::launcher::Launcher;
use super::trial::feed::SOURCE;
use super::trial::script::ROLE;
use std::collections::BTreeMap;
use std::path::Path;

/// What people call the clients of a workload whose process has no better name.
pub const LOAD: &str = "load";

/// What people call the server that sensormark starts.
pub const SERVER: &str = "server";

/// Where the roles of a run are placed.
#[derive(Debug, Clone)]
pub struct Placement {
    here: Launcher,
    /// By the role's name: "writer", "source", "load".
    roles: BTreeMap<String, Launcher>,
    /// Hosts that the processes of a load are spread over, in turn.
    load_hosts: Vec<Launcher>,
}

impl Placement {
    /// All on this machine, by this program.
    pub fn local(program: &Path) -> Self {
        Self { here: Launcher::local(program), roles: BTreeMap::new(), load_hosts: Vec::new() }
    }

    /// The same with a role elsewhere.
    #[must_use]
    pub fn with_role(mut self, role: &str, launcher: Launcher) -> Self {
        self.roles.insert(role.to_owned(), launcher);
        self
    }

    /// The same with the clients of loads spread over these hosts.
    #[must_use]
    pub fn with_load_hosts(mut self, hosts: Vec<Launcher>) -> Self {
        self.load_hosts = hosts;
        self
    }

    /// What places the process of this number of a trial's role.
    pub fn launcher(&self, role: &str, process: u32) -> &Launcher {
        let spread = (role == ROLE && !self.load_hosts.is_empty()).then(|| {
            let place = process as usize % self.load_hosts.len();
            &self.load_hosts[place]
        });
        spread.unwrap_or_else(|| self.roles.get(named(role)).unwrap_or(&self.here))
    }

    /// What places the servers that sensormark starts, where that is another host.
    pub fn server(&self) -> Option<&Launcher> {
        self.roles.get(SERVER)
    }

    /// What places the source.
    pub fn source(&self) -> &Launcher {
        self.launcher(SOURCE, 0)
    }

    /// How many hosts the clients of a load are spread over; 0 where that is not asked for.
    pub fn load_hosts(&self) -> u32 {
        u32::try_from(self.load_hosts.len()).unwrap_or(u32::MAX)
    }

    /// The launchers of other hosts with the roles that they place, each host once.
    pub fn elsewhere(&self) -> Vec<(&str, &Launcher)> {
        let roles = self.roles.iter().map(|(role, launcher)| (role.as_str(), launcher));
        let loads = self.load_hosts.iter().map(|launcher| (LOAD, launcher));
        let mut found: Vec<(&str, &Launcher)> = Vec::new();
        for (role, launcher) in roles.chain(loads).filter(|(_, one)| one.host().is_some()) {
            if !found.iter().any(|(_, other)| *other == launcher) {
                found.push((role, launcher));
            }
        }
        found
    }
}

/// What people call a trial's role.
pub fn named(role: &str) -> &str {
    if role == ROLE { LOAD } else { role }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(host: &str) -> Launcher {
        Launcher::parse(&format!("ssh:{host}")).expect("a launcher")
    }

    #[test]
    fn processes_of_a_load_take_turns_on_its_hosts_and_other_roles_stay() {
        let here = Placement::local(Path::new("/sensormark"));
        assert_eq!(here.launcher(ROLE, 3).host(), None);
        let hosts = ["a", "b"].map(ssh).to_vec();
        let placed = here.with_role("writer", ssh("pi")).with_load_hosts(hosts);
        let host = |role, process| placed.launcher(role, process).host();
        let turns = [0, 1, 2].map(|process| host(ROLE, process));
        assert_eq!(turns, [Some("a"), Some("b"), Some("a")]);
        assert_eq!(host("writer", 0), Some("pi"));
        assert_eq!(host("reader", 0), None);
        let elsewhere = placed.elsewhere();
        let hosts: Vec<_> = elsewhere.iter().map(|(role, one)| (*role, one.host())).collect();
        let expected = [("writer", Some("pi")), ("load", Some("a")), ("load", Some("b"))];
        assert_eq!(hosts, expected);
    }
}
