//! Which server that sensormark did not start has which probe beside it, and where the probe runs: the values of `--probe`. The probe itself is in
//! [`server_probe`](super::server_probe).

use super::launcher::Launcher;
use super::selection::Choice;
use super::server_probe::ServerProbe;
use sensormark_result::probe::{DisturbanceLimits, Processes};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Stands for every server that is given by URL.
const ANY: &str = "server";

/// One `--probe`: whose server, and which processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeChoice {
    whose: String,
    /// None: who listens on the URL's port.
    processes: Option<Processes>,
    folders: Vec<PathBuf>,
    /// None: where all probes run for which nothing else is said.
    launcher: Option<Launcher>,
    /// Whether it says where the program is on its host.
    names_program: bool,
}

impl FromStr for ProbeChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} names no server's processes: write server=port, server=port:NUMBER, server=pid:NUMBER, server=unit:NAME or server=container:NAME, and ,disk=FOLDER for its data, ,host=ssh:NAME for another host"
            )
        };
        let (whose, rest) = text.split_once('=').ok_or_else(wrong)?;
        let mut parts = rest.split(',');
        let processes = match parts.next().unwrap_or_default() {
            "port" => None,
            named => Some(named.parse::<Processes>().map_err(|_| wrong())?),
        };
        let (mut folders, mut launcher, mut program) = (Vec::new(), None, None);
        for part in parts {
            match part.split_once('=').filter(|(_, value)| !value.is_empty()) {
                Some(("disk", folder)) => folders.push(PathBuf::from(folder)),
                Some(("host", words)) => {
                    let parsed = Launcher::parse(words).map_err(|error| error.to_string())?;
                    launcher = Some(parsed);
                }
                Some(("program", path)) => program = Some(path),
                _ => return Err(wrong()),
            }
        }
        if let Some(path) = program {
            let placed = launcher.ok_or(
                "program=PATH is where sensormark is on another host: name the host too, with host=ssh:NAME",
            )?;
            launcher = Some(placed.with_program(path));
        }
        (!whose.is_empty()).then_some(()).ok_or_else(wrong)?;
        Ok(Self { whose: whose.to_owned(), processes, folders, launcher, names_program: program.is_some() })
    }
}

impl ProbeChoice {
    /// What reaches its host, where it names one, to be changed.
    pub const fn launcher_mut(&mut self) -> Option<&mut Launcher> {
        self.launcher.as_mut()
    }

    /// Whether it says where the program is on its host.
    pub const fn names_program(&self) -> bool {
        self.names_program
    }

    /// Whether it is of this server; the user's name of one of several counts too.
    fn is_of(&self, store: &str, server: Option<&str>) -> bool {
        let named = server.is_some_and(|server| self.whose == format!("{store}#{server}"));
        named || self.whose == store || self.whose == ANY
    }

    /// The words after the program's name.
    fn arguments(&self, port: Option<u16>) -> Result<Vec<String>, String> {
        let option = |name: &str, value: String| vec![name.to_owned(), value];
        let port = |words: Vec<String>| match port {
            Some(port) => [words, option("--port", port.to_string())].concat(),
            None => words,
        };
        let mut words = match &self.processes {
            Some(Processes::Pid(pid)) => port(option("--pid", pid.to_string())),
            Some(Processes::Unit(unit)) => port(option("--unit", unit.clone())),
            // Its port inside may be another than the URL's.
            Some(Processes::Container(name)) => option("--container", name.clone()),
            Some(Processes::Port(own)) => option("--port", own.to_string()),
            None => port(Vec::new()),
        };
        if words.is_empty() {
            return Err(format!(
                "--probe {}=port: the URL has no port; name it, as in {}=port:5432",
                self.whose, self.whose
            ));
        }
        for folder in &self.folders {
            words.extend(option("--disk", folder.to_string_lossy().into_owned()));
        }
        words.insert(0, "probe".to_owned());
        Ok(words)
    }
}

/// The probes of a run, and where they run.
#[derive(Debug, Clone)]
pub struct ServerProbes {
    launcher: Launcher,
    choices: Vec<ProbeChoice>,
}

impl ServerProbes {
    /// These probes, placed by this launcher.
    pub const fn new(launcher: Launcher, choices: Vec<ProbeChoice>) -> Self {
        Self { launcher, choices }
    }

    /// No probes at all.
    pub fn none() -> Self {
        Self::new(Launcher::local(Path::new("")), Vec::new())
    }

    fn of(&self, store: &str, server: Option<&str>) -> Option<&ProbeChoice> {
        let all = self.choices.iter().filter(|one| one.is_of(store, server));
        // What names the server itself goes before what names all.
        all.max_by_key(|one| (one.whose != ANY, one.whose.len()))
    }

    /// Refuses probes of no server, and one of the same processes for several.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    pub fn check(&self, choices: &[&Choice]) -> Result<(), String> {
        for probe in &self.choices {
            let mut servers: Vec<(String, String)> = choices
                .iter()
                .filter(|choice| !choice.store.description().embedded)
                .filter(|choice| {
                    let name = choice.store.description().name;
                    self.of(&name, choice.server.as_deref()) == Some(probe)
                })
                .filter_map(|choice| Some((choice.url.as_ref()?.expose().to_owned(), choice.title())))
                .collect();
            servers.sort();
            servers.dedup_by(|one, other| one.0 == other.0);
            let whose = &probe.whose;
            if servers.is_empty() {
                return Err(format!(
                    "--probe {whose}=…: no such server is given by URL (--on STORE=URL); servers that sensormark starts need no probe"
                ));
            }
            if servers.len() > 1 && probe.processes.is_some() {
                let titles: Vec<&str> = servers.iter().map(|(_, title)| title.as_str()).collect();
                return Err(format!(
                    "--probe {whose}=…: it names the processes of one server, and there are several by URL: {}; write {whose}=port, or a probe for each, as STORE=… or STORE#NAME=…",
                    titles.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Starts the probe of this server, where it has one.
    ///
    /// # Errors
    /// Why nothing can be watched there.
    pub fn start(
        &self,
        (store, server): (&str, Option<&str>),
        port: Option<u16>,
        limits: DisturbanceLimits,
    ) -> Result<Option<ServerProbe>, String> {
        let Some(choice) = self.of(store, server) else {
            return Ok(None);
        };
        let words = choice.arguments(port)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let launcher = choice.launcher.as_ref().unwrap_or(&self.launcher);
        let command = launcher.command(&words);
        ServerProbe::start("server", command, launcher.host(), limits).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(text: &str) -> ProbeChoice {
        text.parse().expect(text)
    }

    #[test]
    fn probes_are_read_and_become_arguments() {
        let words = |text: &str, port| choice(text).arguments(port).expect(text).join(" ");
        assert_eq!(words("server=port", Some(5432)), "probe --port 5432");
        assert_eq!(words("server=port:5433", Some(5432)), "probe --port 5433");
        assert_eq!(
            words("server=pid:8,disk=/a,disk=/b", Some(1)),
            "probe --pid 8 --port 1 --disk /a --disk /b"
        );
        assert_eq!(words("mariadb#old=container:db", Some(1)), "probe --container db");
        assert!(choice("server=port").arguments(None).is_err());
        let there = choice("server=port,host=ssh:db1,program=/opt/sensormark");
        let launcher = there.launcher.expect("another host");
        assert_eq!((launcher.host(), launcher.program()), (Some("db1"), "/opt/sensormark"));
        for text in ["server=port,program=/x", "server=port,host=db1"] {
            let said = text.parse::<ProbeChoice>().expect_err(text);
            assert!(said.contains("ssh:") || said.contains("ssh,"), "{said}");
        }
        for text in ["port:5432", "=port", "server=5432", "server=port,/a", "server=port,disk="] {
            let said = text.parse::<ProbeChoice>().expect_err(text);
            assert!(said.contains("write server=port"), "{said}");
        }
    }

    #[test]
    fn the_probe_that_names_a_server_goes_before_one_of_all() {
        let launcher = Launcher::local(Path::new("sensormark"));
        let texts = ["server=port", "postgresql=pid:1", "postgresql#old=pid:2"];
        let probes = ServerProbes::new(launcher, texts.map(choice).to_vec());
        let of = |store, server| probes.of(store, server).map(|one| one.whose.as_str());
        assert_eq!(of("mariadb", None), Some("server"));
        assert_eq!(of("postgresql", None), Some("postgresql"));
        assert_eq!(of("postgresql", Some("old")), Some("postgresql#old"));
    }
}
