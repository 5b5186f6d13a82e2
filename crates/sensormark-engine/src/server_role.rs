//! The server's role: starts a server on the host where it runs, and ends it with its line to the coordinator. The coordinator's end is in
//! `server_elsewhere`, and what both say in [`server_line`](super::server_line).

use super::cold;
use super::connection::Registry;
use super::deployment::Deployment;
use super::role::Event;
use super::role_line::{self, RoleLine, before_end, tell};
use super::selection::Choice;
use super::server_line::{ServerAnswer, ServerCommand, ServerTask, StartedServer};
use sensormark_server::Supervisor;
use sensormark_store::{ErrorKind, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// What ends the server when the line is closed.
static SUPERVISOR: OnceLock<Supervisor> = OnceLock::new();

/// Runs the role to its end.
///
/// # Errors
/// When its line says what cannot be understood.
pub fn run(
    mut line: RoleLine,
    task: &ServerTask,
    registry: &Registry,
    supervisor: &Supervisor,
) -> Result<(), StoreError> {
    let _ = SUPERVISOR.set(supervisor.clone());
    before_end(|| SUPERVISOR.get().iter().for_each(|one| one.stop_all()));
    for what in supervisor.clean_orphans() {
        tracing::warn!("{what}");
    }
    let server = match start(task, registry, supervisor) {
        Ok(server) => server,
        Err(error) => {
            answer(&ServerAnswer::of(&error));
            return Ok(());
        }
    };
    let watched = Arc::new(AtomicBool::new(false));
    watch(&server, &watched);
    answer(&ServerAnswer::Started(Box::new(started(&server))));
    answer(&ServerAnswer::Done(server.root()));
    loop {
        let told = line.receive().map_err(|problem| broken(&problem))?;
        let Some(command) = told else {
            role_line::end();
        };
        let done = match command {
            ServerCommand::Halt => server.halt(),
            ServerCommand::Restart => server.restart(),
            ServerCommand::StartCold => cold::start_here(&server),
            ServerCommand::Disk => {
                answer(&disk(&server));
                continue;
            }
            ServerCommand::Stop => {
                drop(server);
                answer(&ServerAnswer::Done(None));
                return Ok(());
            }
        };
        watch(&server, &watched);
        answer(&match done {
            Ok(()) => ServerAnswer::Done(server.root()),
            Err(error) => ServerAnswer::of(&error),
        });
    }
}

fn start(task: &ServerTask, registry: &Registry, supervisor: &Supervisor) -> Result<Deployment, StoreError> {
    let store = registry.find(&task.store);
    let store = store.ok_or_else(|| broken(&format!("there is no store {}", task.store)))?;
    let choice = Choice::of(Arc::clone(store));
    Deployment::open(supervisor, &choice, &task.options, None)
}

fn started(server: &Deployment) -> StartedServer {
    let endpoint = server.endpoint();
    StartedServer {
        url: endpoint.url.expose().to_owned(),
        label: endpoint.label.clone(),
        ports: endpoint.ports.clone(),
        record: server.record().expect("a server has a record"),
        folders: server.folders(),
    }
}

fn disk(server: &Deployment) -> ServerAnswer {
    match server.disk() {
        Ok(usage) => ServerAnswer::Disk(usage),
        Err(failure) => ServerAnswer::Failed {
            kind: ErrorKind::Rejected,
            operation: "measure the space of the server's folder".to_owned(),
            context: failure.to_string(),
        },
    }
}

/// Tells the coordinator once when the server ends without being asked to. One that was told of is watched anew after its next start.
fn watch(server: &Deployment, watched: &Arc<AtomicBool>) {
    let Some(managed) = server.managed() else {
        return;
    };
    if watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let watched = Arc::clone(watched);
    managed.on_exit(Box::new(move |message| {
        watched.store(false, Ordering::SeqCst);
        tell(&Event::Failed { unreachable: false, message: message.to_owned() });
    }));
}

fn answer(answer: &ServerAnswer) {
    let answer = serde_json::to_value(answer).expect("answers have string keys");
    tell(&Event::Answer(answer));
}

fn broken(problem: &str) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "run the server's role", problem)
}
