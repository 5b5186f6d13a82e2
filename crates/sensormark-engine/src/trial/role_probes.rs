//! Probes beside the trial's processes on other hosts: what a process uses there cannot be seen from here. Each is started by its role's own launcher.
//!
//! A probe that cannot be had ends nothing. It leaves the columns of its role empty, and a warning says why.

use crate::placement::named;
use crate::role::RoleProcess;
use crate::server_probe::{Probed, ServerProbe};
use sensormark_result::probe::{DisturbanceLimits, ProbeCommand};
use std::time::{Duration, Instant};

/// How long a probe may take to say hello: the role beside it was started in the same way before.
const HELLO: Duration = Duration::from_secs(20);

/// The probes of a trial's processes.
pub struct RoleProbes {
    probes: Vec<RoleProbe>,
    warnings: Vec<String>,
}

/// The probe of one process.
struct RoleProbe {
    /// The process's number.
    process: usize,
    /// Its role, as people call it.
    whose: String,
    host: String,
    /// None where there is none any more.
    probe: Option<ServerProbe>,
    /// When it was told what it has yet to answer.
    told: Option<Instant>,
}

/// What was seen of a process on another host.
pub struct SeenRole {
    /// The process's number.
    pub process: usize,
    /// Its role, as people call it; the name of its samples.
    pub whose: String,
    /// Its host, as the user named it.
    pub host: String,
    /// What its probe has seen, if it had one to the end.
    pub probed: Option<Probed>,
}

impl RoleProbes {
    /// Starts a probe beside each process on another host, all at once. The trial's role has this name.
    pub fn start(role: &str, roles: &[RoleProcess], limits: DisturbanceLimits) -> Self {
        let mut all = Self { probes: Vec::new(), warnings: Vec::new() };
        let mut waiting = Vec::new();
        for (process, role_process) in roles.iter().enumerate() {
            let Some(host) = role_process.host() else {
                continue;
            };
            let whose = named(role);
            waiting.push(launch(whose, role_process, limits));
            all.probes.push(RoleProbe {
                process,
                whose: whose.to_owned(),
                host: host.to_owned(),
                probe: None,
                told: None,
            });
        }
        let deadline = Instant::now() + HELLO;
        for (one, launched) in all.probes.iter_mut().zip(waiting) {
            let left = deadline.saturating_duration_since(Instant::now());
            let greeted = launched.and_then(|mut probe| {
                probe.greet(left)?;
                Ok(probe)
            });
            match greeted {
                Ok(probe) => one.probe = Some(probe),
                Err(why) => all.warnings.push(one.unmeasured(&why)),
            }
        }
        all
    }

    /// Tells each probe something, before any of them is heard.
    pub fn tell(&mut self, command: &ProbeCommand) {
        self.each(|one, probe| {
            one.told = Some(probe.tell(command)?);
            Ok(())
        });
    }

    /// Waits until each has done what it was told.
    pub fn answered(&mut self, command: &ProbeCommand) {
        self.each(|one, probe| match one.told.take() {
            Some(told) => probe.answered(command, told),
            None => Ok(()),
        });
    }

    /// Takes in what they have seen.
    pub fn look(&mut self) {
        self.each(|_, probe| probe.look());
    }

    /// Does this with each probe. One that fails is given up, with a warning.
    fn each(&mut self, work: impl Fn(&mut RoleProbe, &mut ServerProbe) -> Result<(), String>) {
        for one in &mut self.probes {
            let Some(mut probe) = one.probe.take() else {
                continue;
            };
            match work(one, &mut probe) {
                Ok(()) => one.probe = Some(probe),
                Err(why) => self.warnings.push(one.unmeasured(&why)),
            }
        }
    }

    /// Ends all of them. Gives what they have seen, and the warnings.
    pub fn stop(mut self) -> (Vec<SeenRole>, Vec<String>) {
        for probe in self.probes.iter_mut().filter_map(|one| one.probe.as_mut()) {
            probe.close();
        }
        let seen = self.probes.into_iter().map(|one| SeenRole {
            process: one.process,
            whose: one.whose,
            host: one.host,
            probed: one.probe.map(ServerProbe::stop),
        });
        (seen.collect(), self.warnings)
    }
}

impl RoleProbe {
    /// That the process cannot be measured, and why.
    fn unmeasured(&self, why: &str) -> String {
        format!(
            "the {} ran on {}: its processor time, memory and network are not measured, because {why}",
            self.whose, self.host
        )
    }
}

/// Starts the probe of a process where that runs.
fn launch(whose: &str, role: &RoleProcess, limits: DisturbanceLimits) -> Result<ServerProbe, String> {
    let unknown = "it did not say which process it is there";
    let pid = role.id_there().ok_or(unknown)?.to_string();
    let command = role.launcher().command(&["probe", "--pid", &pid]);
    ServerProbe::launch(whose, command, role.host(), limits)
}
