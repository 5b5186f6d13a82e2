//! Which processes of a trial are watched: the coordinator, the server, and those that the trial started. A probe beside the server watches it where it is on
//! another host, or where sensormark did not start it. A process on another host has a probe beside it too.

use super::role_probes::{RoleProbes, SeenRole};
use crate::context::RunContext;
use crate::deployment::Deployment;
use crate::failure::TrialFailure;
use crate::role::RoleProcess;
use crate::server_probe::{Probed, ServerProbe};
use sensormark_result::probe::{
    DiskUsage, HostSampler, ProbeCommand, ProbeError, ProcessTree, Recorder, Recording, Scope, WireScope,
};
use std::path::PathBuf;
use std::time::Duration;

/// What data and logs occupy on disk, in bytes, as far as it can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub bytes: Option<u64>,
    /// Logs alone.
    pub logs: Option<u64>,
}

impl From<Option<DiskUsage>> for Space {
    fn from(usage: Option<DiskUsage>) -> Self {
        Self { bytes: usage.map(|usage| usage.allocated_bytes), logs: usage.map(|usage| usage.apart_bytes) }
    }
}

/// What watches a trial.
pub struct Watch {
    recorder: Recorder,
    probe: Option<ServerProbe>,
    role_probes: RoleProbes,
}

/// What was seen of a trial.
pub struct Seen {
    /// By this process.
    pub recording: Recording,
    /// By the probe beside the server.
    pub probed: Option<Probed>,
    /// By the probes beside the trial's processes on other hosts.
    pub roles: Vec<SeenRole>,
    /// Why processes on other hosts are not measured.
    pub warnings: Vec<String>,
}

impl Watch {
    /// Starts sampling: the coordinator, the server and these processes of the trial.
    ///
    /// # Errors
    /// When processes cannot be watched.
    pub fn start(
        context: &RunContext<'_>,
        deployment: &Deployment,
        name: &str,
        roles: &[RoleProcess],
    ) -> Result<Self, TrialFailure> {
        let mut probe = None;
        if deployment.is_existing() {
            let store = deployment.store().description().name;
            let port = deployment.endpoint().ports.first().copied();
            let of = (store.as_str(), deployment.name());
            let started = context.probes.start(of, port, context.disturbance);
            probe = started.map_err(TrialFailure::System)?;
        }
        if let Some(server) = deployment.elsewhere() {
            let started = server.probe(context.disturbance);
            probe = Some(started.map_err(TrialFailure::System)?);
        }
        let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let coordinator = ProcessTree::attach("coordinator", own, Scope::Process, None)?;
        let mut trees = vec![coordinator];
        trees.extend(deployment.tree()?);
        let wire = (!deployment.store().description().embedded).then_some(WireScope::Sockets);
        // What a process on another host uses is seen by a probe there.
        for role in roles.iter().filter(|role| role.host().is_none()) {
            trees.push(tree(name, role, wire)?);
        }
        let folders = deployment.folders();
        let host = HostSampler::new(folders.iter().map(PathBuf::as_path))?;
        let period = Duration::from_secs(1);
        let role_probes = RoleProbes::start(name, roles, context.disturbance);
        let recorder = Recorder::start(host, trees, period, context.disturbance)?;
        Ok(Self { recorder, probe, role_probes })
    }

    /// What samples the processes on this machine.
    pub const fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Begins a phase, here and at the probes.
    ///
    /// # Errors
    /// When one of them samples no more.
    pub fn begin_phase(&mut self, name: &str) -> Result<(), TrialFailure> {
        self.mark(&ProbeCommand::Begin(name.to_owned()), |recorder| recorder.begin_phase(name))
    }

    /// Ends the phase, here and at the probes; see [`Recorder::end_phase`].
    ///
    /// # Errors
    /// When one of them samples no more.
    pub fn end_phase(&mut self, proportional: bool) -> Result<(), TrialFailure> {
        self.mark(&ProbeCommand::End { proportional }, |recorder| recorder.end_phase(proportional))
    }

    /// The probes get their word first, and sample while this process does: all differ by no more than the way there.
    fn mark(
        &mut self,
        command: &ProbeCommand,
        here: impl FnOnce(&Recorder) -> Result<u64, ProbeError>,
    ) -> Result<(), TrialFailure> {
        let mut told = None;
        if let Some(probe) = &mut self.probe {
            told = Some(probe.tell(command).map_err(TrialFailure::System)?);
        }
        self.role_probes.tell(command);
        here(&self.recorder)?;
        if let Some((probe, sent)) = self.probe.as_mut().zip(told) {
            let answered = probe.answered(command, sent);
            answered.map_err(TrialFailure::System)?;
        }
        self.role_probes.answered(command);
        Ok(())
    }

    /// Whether the server's probe still watches.
    ///
    /// # Errors
    /// How it ended.
    pub fn look(&mut self) -> Result<(), TrialFailure> {
        self.role_probes.look();
        let looked = self.probe.as_mut().map_or(Ok(()), ServerProbe::look);
        looked.map_err(TrialFailure::System)
    }

    /// The space of data and logs, where it can be seen.
    ///
    /// # Errors
    /// When it should be and cannot.
    pub fn disk(&mut self, deployment: &Deployment) -> Result<Space, TrialFailure> {
        match &mut self.probe {
            Some(probe) if !deployment.is_ours() => {
                let logs = deployment.store().description().logs;
                Ok(probe.disk(logs.names).map_err(TrialFailure::System)?.into())
            }
            _ => Ok(deployment.disk()?.into()),
        }
    }

    /// Ends it, and gives what was seen.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn stop(self) -> Result<Seen, TrialFailure> {
        let recording = self.recorder.stop()?;
        let (roles, warnings) = self.role_probes.stop();
        Ok(Seen { recording, probed: self.probe.map(ServerProbe::stop), roles, warnings })
    }
}

/// A process of the trial, to be watched under this name.
///
/// # Errors
/// When it is gone already.
pub fn tree(name: &str, role: &RoleProcess, wire: Option<WireScope>) -> Result<ProcessTree, ProbeError> {
    let root = i32::try_from(role.process_id()).unwrap_or(i32::MAX);
    ProcessTree::attach(name, root, Scope::Descendants, wire)
}
