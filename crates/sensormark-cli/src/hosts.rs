//! Placing the processes of a trial on other hosts: from options and a hosts file to launchers. What cannot work is refused here, before anything is measured.
//! Whether the hosts can be reached, and have this program, is asked in `reach`.

pub mod reach;

use crate::arguments::{CommonArguments, HostsArguments};
use crate::failure::Failure;
use sensormark_data::nearest::unknown;
use sensormark_engine::benchmark_case::BenchmarkCase;
use sensormark_engine::launcher::{Launcher, LauncherError};
use sensormark_engine::placement::{LOAD, Placement, SERVER};
use sensormark_engine::server_probes::ProbeChoice;
use sensormark_result::measurement::Cache;
use sensormark_store::Description;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::Path;

/// Roles that share a queue of one kernel.
const TOGETHER: [&str; 2] = ["source", "writer"];

/// A hosts file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    /// The command that reaches a host by its name.
    launcher: Option<String>,
    /// Where sensormark is on the hosts.
    program: Option<String>,
    /// Whether this program is copied there.
    #[serde(default)]
    deploy: bool,
    /// Hosts that the clients of loads are spread over.
    #[serde(default)]
    load: Vec<String>,
    /// The address that a server of sensormark's own listens on.
    server_address: Option<Ipv4Addr>,
    /// By role: its host.
    #[serde(default)]
    roles: BTreeMap<String, String>,
}

/// What the user asked for.
#[derive(Debug)]
pub struct Hosts {
    roles: BTreeMap<String, Launcher>,
    load: Vec<Launcher>,
    /// Probes beside servers that are given by URL, here or on other hosts.
    probes: Vec<ProbeChoice>,
    deploy: bool,
    server_address: Option<Ipv4Addr>,
}

impl Hosts {
    /// Of these options and the file that they name, and of these probes. What an option says counts more.
    ///
    /// # Errors
    /// What cannot be understood, in words.
    pub fn new(arguments: &HostsArguments, probes: &[ProbeChoice]) -> Result<Self, Failure> {
        let file = match &arguments.file {
            Some(path) => read(path)?,
            None => HostsFile::default(),
        };
        let template = arguments.launcher.as_ref().or(file.launcher.as_ref());
        let template = template.map(String::as_str);
        let deploy = arguments.deploy || (file.deploy && arguments.host_program.is_none());
        let program = arguments.host_program.as_ref().or(file.program.as_ref());
        let launcher = |text: &str| {
            let made = launcher(text, template).map_err(Failure::usage)?;
            Ok::<_, Failure>(match program {
                Some(program) => made.with_program(program),
                None => made,
            })
        };
        let mut named = file.roles;
        for text in &arguments.roles {
            let pair = text.split_once('=').filter(|(role, _)| !role.is_empty());
            let (role, host) = pair.ok_or_else(|| {
                Failure::usage(format!("--host {text}: write ROLE=LAUNCHER, such as writer=ssh:pi1"))
            })?;
            named.insert(role.to_owned(), host.to_owned());
        }
        let load = if arguments.load_hosts.is_empty() { &file.load } else { &arguments.load_hosts };
        let load = load.iter().map(|text| launcher(text));
        let load = load.collect::<Result<Vec<Launcher>, Failure>>()?;
        let roles = named.iter().map(|(role, text)| Ok((role.clone(), launcher(text)?)));
        let mut probes = probes.to_vec();
        for probe in probes.iter_mut().filter(|one| !one.names_program()) {
            if let Some((placed, program)) = probe.launcher_mut().zip(program) {
                *placed = placed.clone().with_program(program);
            }
        }
        Ok(Self {
            roles: roles.collect::<Result<_, Failure>>()?,
            load,
            probes,
            deploy,
            server_address: arguments.server_address.or(file.server_address),
        })
    }

    /// Whether anything runs elsewhere.
    pub fn is_used(&self) -> bool {
        !self.roles.is_empty() || !self.load.is_empty()
    }

    /// The host of the servers that sensormark starts, where that is another.
    pub fn server(&self) -> Option<&Launcher> {
        self.roles.get(SERVER)
    }

    /// The address that such a server listens on, where the user named one.
    pub const fn server_address(&self) -> Option<Ipv4Addr> {
        self.server_address
    }

    /// Whether this program is copied to the hosts.
    pub const fn deploys(&self) -> bool {
        self.deploy
    }

    /// Refuses what cannot work with these roles of the workload on these databases.
    ///
    /// # Errors
    /// What cannot, and what to do.
    pub fn check(&self, known: &BTreeSet<String>, cases: &[BenchmarkCase]) -> Result<(), Failure> {
        if !self.is_used() {
            return self.server_address.map_or(Ok(()), |address| {
                Err(Failure::usage(format!(
                    "--server-address {address}: no role runs on another host, so nobody has to reach the server there; place one with --host, or leave it out"
                )))
            });
        }
        for role in self.roles.keys().filter(|role| *role != SERVER) {
            if role == "probe" {
                return Err(Failure::usage(
                    "--host probe=…: the probe of a server that is given by URL has its host in its own option: --probe server=port,host=LAUNCHER",
                ));
            }
            if !known.contains(role) {
                let known = known.iter().cloned();
                return Err(Failure::usage(unknown("role", role, known)));
            }
        }
        if !self.load.is_empty() && (self.roles.contains_key(LOAD) || !known.contains(LOAD)) {
            let why = if known.contains(LOAD) {
                "--host load=… places the same clients; leave one of both out".to_owned()
            } else {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let known = known.join(", ");
                format!("the clients of this workload have names: place {known} with --host")
            };
            return Err(Failure::usage(format!("--load-hosts: {why}")));
        }
        self.check_queue(known)?;
        if self.server().is_some() && cases.iter().all(|case| case.choice.url.is_some()) {
            return Err(Failure::usage(
                "--host server=…: every database is given by URL, so sensormark starts no server; leave the option or the URL out",
            ));
        }
        cases.iter().try_for_each(|case| self.check_case(case))
    }

    /// Refuses options about a server of this machine, where it is started on another.
    ///
    /// # Errors
    /// Which option, and what to do.
    pub fn check_server(&self, common: &CommonArguments) -> Result<(), Failure> {
        let options = [
            ("--data", common.data.is_some()),
            ("--log-folder", common.log_folder.is_some()),
            ("--memory-limit", common.memory_limit.is_some()),
            ("--pin", common.pin.is_some()),
            ("--cache cold", common.cache.cache() == Cache::Cold),
        ];
        let mut given = options.into_iter().filter(|(_, is_given)| *is_given);
        match given.next().filter(|_| self.server().is_some()) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::usage(format!(
                "{option} with --host server=…: the option is about a server on this machine; leave one of both out"
            ))),
        }
    }

    /// Source and writer share a queue.
    fn check_queue(&self, known: &BTreeSet<String>) -> Result<(), Failure> {
        let [source, writer] = TOGETHER.map(|role| self.roles.get(role));
        let are_here = TOGETHER.iter().all(|role| known.contains(*role));
        if are_here && source != writer {
            let place = |launcher: Option<&Launcher>| {
                let host = launcher.and_then(Launcher::host);
                host.unwrap_or("this host").to_owned()
            };
            return Err(Failure::usage(format!(
                "source is on {} and writer on {}, but they share a queue of one kernel: place both on one host, --host source=… --host writer=…",
                place(source),
                place(writer)
            )));
        }
        Ok(())
    }

    /// The databases that a client on another host can reach.
    fn check_case(&self, case: &BenchmarkCase) -> Result<(), Failure> {
        let (store, title) = (&case.choice.store, case.choice.title());
        let Description { name, embedded, .. } = store.description();
        if embedded {
            return Err(Failure::usage(format!(
                "{title} works inside its client's process, so no client of it runs on another host: leave out {title} or the hosts"
            )));
        }
        if case.choice.url.is_some() {
            return Ok(());
        }
        let yourself = format!("start it yourself and give its URL, --on {name}=URL");
        let Some(address) = self.server_address else {
            return Err(Failure::usage(format!(
                "sensormark would start {title} on 127.0.0.1, where clients on other hosts cannot reach it: name an address of its host with --server-address, or {yourself}"
            )));
        };
        match store.keeps_to_loopback().filter(|_| !address.is_loopback()) {
            None => Ok(()),
            Some(why) => Err(Failure::usage(format!(
                "--server-address {address}: {title} may not listen there, because {why}; {yourself}"
            ))),
        }
    }

    /// Where roles are placed, all others on this machine by this program.
    pub fn placement(&self, program: &Path) -> Placement {
        let here = Placement::local(program).with_load_hosts(self.load.clone());
        let roles = self.roles.iter();
        roles.fold(here, |placed, (role, launcher)| placed.with_role(role, launcher.clone()))
    }

    /// The probes beside servers that are given by URL.
    pub fn probes(&self) -> Vec<ProbeChoice> {
        self.probes.clone()
    }

    /// All launchers of roles and probes, to be changed alike, and whether the user has said where its program is.
    fn launchers(&mut self) -> impl Iterator<Item = (&mut Launcher, bool)> {
        let roles = self.roles.values_mut().chain(&mut self.load);
        let probes = self.probes.iter_mut().filter_map(|probe| {
            let is_named = probe.names_program();
            Some((probe.launcher_mut()?, is_named))
        });
        roles.map(|launcher| (launcher, false)).chain(probes)
    }
}

fn read(path: &Path) -> Result<HostsFile, Failure> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::input_output(format!("{shown}: {error}")))?;
    toml::from_str(&text).map_err(|error| Failure::usage(format!("{shown}: {error}")))
}

/// A launcher as it was typed, or a plain name for the template.
fn launcher(text: &str, template: Option<&str>) -> Result<Launcher, String> {
    match (Launcher::parse(text), template) {
        (Err(LauncherError::Unknown { .. }), Some(template)) => {
            Launcher::from_template(template, text).map_err(|error| error.to_string())
        }
        (Err(LauncherError::Unknown { .. }), None) => Err(format!(
            "{text:?} names a host and not how it is reached: write ssh:{text}, or give the command, such as --launcher 'ssh {{host}}'"
        )),
        (made, _) => made.map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(words: &[&str], template: Option<&str>) -> Result<Hosts, String> {
        let arguments = HostsArguments {
            roles: words.iter().map(|word| (*word).to_owned()).collect(),
            launcher: template.map(str::to_owned),
            ..HostsArguments::default()
        };
        Hosts::new(&arguments, &[]).map_err(|failure| format!("{failure:?}"))
    }

    fn refusal(words: &[&str], known: &[&str]) -> String {
        let known = known.iter().map(|role| (*role).to_owned()).collect();
        let checked = hosts(words, None).expect("launchers").check(&known, &[]);
        format!("{:?}", checked.expect_err("refused"))
    }

    #[test]
    fn what_cannot_work_is_refused_in_words() {
        let tool = ["source", "writer", "reader"];
        assert!(refusal(&["wirter=ssh:a"], &tool).contains("did you mean writer?"));
        assert!(refusal(&["server=ssh:a"], &tool).contains("every database is given by URL"));
        assert!(refusal(&["probe=ssh:a"], &tool).contains("--probe server=port,host="));
        let apart = refusal(&["source=ssh:a", "writer=ssh:b"], &tool);
        assert!(apart.contains("source is on a and writer on b"), "{apart}");
        let half = refusal(&["writer=ssh:b"], &tool);
        assert!(half.contains("source is on this host"), "{half}");
        assert!(hosts(&["writer"], None).expect_err("no host").contains("ROLE=LAUNCHER"));
        assert!(hosts(&["load=pi1"], None).expect_err("no way").contains("ssh:pi1"));
    }

    #[test]
    fn an_address_is_for_a_server_that_other_hosts_reach() {
        let arguments =
            HostsArguments { server_address: Some(Ipv4Addr::new(10, 0, 0, 5)), ..HostsArguments::default() };
        let hosts = Hosts::new(&arguments, &[]).expect("an address");
        let refused = hosts.check(&BTreeSet::new(), &[]).expect_err("refused");
        let said = format!("{refused:?}");
        assert!(said.contains("no role runs on another host"), "{said}");
    }

    #[test]
    fn plain_names_go_into_the_template_and_presets_stay() {
        let made = hosts(&["load=n1", "reader=ssh:b"], Some("srun -w {host}")).expect("launchers");
        assert_eq!(made.roles["load"].shown(), "srun -w n1");
        let preset = made.roles["reader"].shown();
        assert!(preset.starts_with("ssh ") && preset.ends_with(" -T b"), "{preset}");
        assert!(made.is_used() && !made.deploys());
    }

    #[test]
    fn a_hosts_file_says_all_and_options_count_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hosts.toml");
        let text = "launcher = 'ssh {host}'\nprogram = '/opt/sensormark'\nload = ['a', 'b']\n[roles]\nwriter = 'pi1'\n";
        std::fs::write(&path, text).expect("room");
        let mut arguments = HostsArguments {
            file: Some(path.clone()),
            roles: vec!["writer=docker:w".to_owned()],
            ..HostsArguments::default()
        };
        let made = Hosts::new(&arguments, &[]).expect("a file");
        assert_eq!(made.load.len(), 2);
        assert_eq!(made.load[0].program(), "/opt/sensormark");
        assert_eq!(made.roles["writer"].host(), Some("w"));
        std::fs::write(&path, "launcher = 'ssh {host}'\nhost = 'a'\n").expect("room");
        arguments.roles.clear();
        let refused = Hosts::new(&arguments, &[]).expect_err("no such key");
        assert!(format!("{refused:?}").contains("unknown field `host`"));
    }
}
