//! `sensormark probe`: what a server's processes and their host use, as JSON lines, until standard input closes.

use crate::arguments::ProbeArguments;
use crate::failure::Failure;
use sensormark_result::probe::{ProbeCommand, ProbeLine, ProbeService, Watched};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The shortest time between two samples: a sample takes milliseconds.
const SHORTEST: Duration = Duration::from_millis(50);

/// Watches until nobody wants to know any more.
pub fn probe(arguments: &ProbeArguments) -> Result<ExitCode, Failure> {
    if arguments.interval < SHORTEST {
        return Err(Failure::usage(
            "--interval: a sample costs milliseconds of processor time, so the shortest time between two is 50ms",
        ));
    }
    let watched = Watched {
        processes: arguments.named.processes().map_err(Failure::usage)?,
        port: arguments.named.port,
        folders: arguments.disks.clone(),
        interval: arguments.interval,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let service = ProbeService::open(watched).map_err(Failure::usage)?;
    let commands = commands().map_err(|error| Failure::missing(format!("cannot start a thread: {error}")))?;
    service.run(&commands, &mut tell).map_err(Failure::missing)?;
    Ok(ExitCode::SUCCESS)
}

/// The lines of standard input, until it closes.
fn commands() -> io::Result<Receiver<Result<ProbeCommand, String>>> {
    let (sender, commands) = channel();
    thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(ProbeCommand::parse(&line)).is_err() {
                break;
            }
        }
    })?;
    Ok(commands)
}

/// Prints a line; whether somebody still reads.
fn tell(line: &ProbeLine) -> bool {
    let mut bytes = serde_json::to_vec(line).expect("lines have string keys");
    bytes.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&bytes).and_then(|()| output.flush()).is_ok()
}
