//! `sensormark servers`: a store's server by hand, in a scratch folder, on loopback.

use crate::arguments::{ServersAction, ServersArguments};
use crate::failure::{Failure, INTERRUPTED};
use crate::measure::check_memory_limit;
use crate::output::line;
use crate::registry::registry;
use crate::server_memory::ServerMemory;
use crate::signals;
use sensormark_engine::selection::{Choice, find_store};
use sensormark_server::{StartWishes, Supervisor};
use sensormark_store::ServerOptions;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Does what was asked.
pub fn servers(arguments: &ServersArguments) -> Result<ExitCode, Failure> {
    let supervisor = Supervisor::new(None)?;
    match &arguments.action {
        ServersAction::Start { store, server_memory, memory_limit, durability, data } => {
            let memory = ServerMemory::new(*server_memory, None, *memory_limit);
            let options = ServerOptions {
                memory_bytes: memory.bytes,
                memory_limit_bytes: memory_limit.map(|limit| limit.0),
                durability: durability.class(),
                ..ServerOptions::default()
            };
            start(&supervisor, store, (&memory, &options), data.as_deref())
        }
        ServersAction::Stop { store } => stop(&supervisor, store),
        ServersAction::Status => {
            status(&supervisor)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn start(
    supervisor: &Supervisor,
    store: &str,
    (memory, options): (&ServerMemory, &ServerOptions),
    data: Option<&Path>,
) -> Result<ExitCode, Failure> {
    let registry = registry();
    let found = find_store(store, &registry).map_err(Failure::usage)?;
    let choice = Choice::of(Arc::clone(found));
    memory.check(&[&choice])?;
    check_memory_limit(options, &[&choice])?;
    let wishes = StartWishes { data, detachable: true, ..StartWishes::default() };
    signals::end_starts_of(supervisor);
    let started = supervisor.start_with(found.as_ref(), options, &wishes);
    let broken_off = || {
        // Waits for a stop that another thread is at.
        supervisor.stop_all();
        Ok(ExitCode::from(INTERRUPTED))
    };
    if signals::interrupted() {
        drop(started);
        return broken_off();
    }
    let server = started?;
    let (process, folder) = (server.process_id(), server.run_folder().to_path_buf());
    let run = server.detach()?;
    if signals::interrupted() {
        // It is on nobody's list any more.
        drop(supervisor.stop_run(&run));
        return broken_off();
    }
    let (title, folder) = (found.description().title, folder.display());
    line(format_args!("{title} runs as process {process}, named {run}"))?;
    line(format_args!("its folder, with its URL and password in endpoint.json: {folder}"))?;
    line(format_args!("measure it: sensormark run machine-tool --on {store}=@{run}"))?;
    line(format_args!("stop it:    sensormark servers stop {store}"))?;
    Ok(ExitCode::SUCCESS)
}

fn stop(supervisor: &Supervisor, store: &str) -> Result<ExitCode, Failure> {
    let ours: Vec<_> =
        supervisor.status().into_iter().filter(|server| server.detached && server.store == store).collect();
    if ours.is_empty() {
        return Err(Failure::usage(format!(
            "no server of {store} was left running; sensormark servers status shows what runs"
        )));
    }
    for server in ours {
        supervisor.stop_run(&server.run)?;
        line(format_args!("{store} {} stopped, its folder removed", server.run))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn status(supervisor: &Supervisor) -> Result<(), Failure> {
    let servers = supervisor.status();
    if servers.is_empty() {
        line("no server runs")?;
    }
    for server in servers {
        let state = match (server.running, server.detached) {
            (true, true) => "runs, left running",
            (true, false) => "runs, in use",
            (false, _) => "does not run",
        };
        let ports: Vec<String> = server.ports.iter().map(u16::to_string).collect();
        line(format_args!(
            "{} {}: {state}; process {}, 127.0.0.1 port {}, {}",
            server.store,
            server.run,
            server.process_id,
            ports.join(" "),
            server.folder.display()
        ))?;
    }
    Ok(())
}
