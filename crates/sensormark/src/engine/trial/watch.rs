//! Which processes of a trial are watched: the coordinator, the server, and those that the trial started.

use crate::engine::context::RunContext;
use crate::engine::deployment::Deployment;
use crate::engine::failure::TrialFailure;
use crate::engine::role::RoleProcess;
use crate::probe::{HostSampler, ProbeError, ProcessTree, Recorder, Scope, WireScope};
use std::path::PathBuf;
use std::time::Duration;

/// Starts sampling: the coordinator, the server and these processes of the trial.
///
/// # Errors
/// When processes cannot be watched.
pub fn start_recorder(
    context: &RunContext<'_>,
    deployment: &Deployment,
    name: &str,
    roles: &[RoleProcess],
) -> Result<Recorder, TrialFailure> {
    let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
    let coordinator = ProcessTree::attach("coordinator", own, Scope::Process, None)?;
    let mut trees = vec![coordinator];
    trees.extend(deployment.tree()?);
    let wire = (!deployment.store().description().embedded).then_some(WireScope::Sockets);
    for role in roles {
        trees.push(tree(name, role, wire)?);
    }
    let folders = deployment.folders();
    let host = HostSampler::new(folders.iter().map(PathBuf::as_path))?;
    let period = Duration::from_secs(1);
    Ok(Recorder::start(host, trees, period, context.disturbance)?)
}

/// A process of the trial, to be watched under this name.
///
/// # Errors
/// When it is gone already.
pub fn tree(
    name: &str,
    role: &RoleProcess,
    wire: Option<WireScope>,
) -> Result<ProcessTree, ProbeError> {
    let root = i32::try_from(role.process_id()).unwrap_or(i32::MAX);
    ProcessTree::attach(name, root, Scope::Descendants, wire)
}
