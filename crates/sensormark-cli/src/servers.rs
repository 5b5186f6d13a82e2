//! `sensormark servers`: a store's server by hand.

use crate::arguments::{ServersAction, ServersArguments};
use crate::failure::Failure;
use crate::registry::registry;
use sensormark::workload::selection::unknown;
use sensormark_store::ServerOptions;
use sensormark_store::supervisor::Supervisor;
use std::process::ExitCode;

/// Does what was asked.
pub fn servers(arguments: &ServersArguments) -> Result<ExitCode, Failure> {
    let supervisor = Supervisor::new(None)?;
    match &arguments.action {
        ServersAction::Start { store, server_memory, data } => {
            let registry = registry();
            let names = || registry.stores().iter().map(|store| store.description().name);
            let found = registry.find(store).ok_or_else(|| Failure::usage(unknown("store", store, names())))?;
            let options = ServerOptions { memory_bytes: server_memory << 20, ..ServerOptions::default() };
            let server = supervisor.start_detached(found.as_ref(), &options, data.as_deref())?;
            println!("{} runs as process {}; its URL, password included, is in {}", found.description().title, server.process_id, server.url_file.display());
            println!("measure it with: sensormark run machine-tool --on {store}=$(cat {})", server.url_file.display());
            println!("stop it with: sensormark servers stop {store}");
        }
        ServersAction::Stop { store } => {
            let stopped = supervisor.stop_detached(store)?;
            println!("{stopped} stopped");
        }
        ServersAction::Status => {
            let status = supervisor.status();
            if status.is_empty() {
                println!("no server runs");
            }
            for server in status {
                println!("{server}");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
