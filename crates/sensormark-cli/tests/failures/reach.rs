//! Servers that cannot be reached, or not in this way. The program says so before anything is measured, with exit code 3.

use crate::Outcome;
use crate::program::{ENDLESS, Program};
use crate::proxy::Proxy;
use crate::stores::{MEMORY, Running, Server, Shared, processes, signal};
use crate::support::{Place, errors, read_folder};
use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

/// The longest that it may take to say so.
const LIMIT: Duration = Duration::from_secs(30);

/// Measures the server by this URL, and checks that it is refused in good time, in one message with one of these words, and nothing begun.
fn told(server: &Server, running: &Running, url: &str, words: &[&str]) -> Result<(), String> {
    let place = Place::new();
    let on = format!("{}={url}", server.on());
    let began = Instant::now();
    let output = place.run(&["run", "machine-tool", "--on", &on]);
    let (took, text) = (began.elapsed(), errors(&output));
    ensure!(took < LIMIT, "it took {} s: {text}", took.as_secs());
    ensure!(output.status.code() == Some(3), "{:?}: {text}", output.status);
    ensure!(text.contains(server.title), "it is not said who: {text}");
    ensure!(words.iter().any(|word| text.contains(word)), "none of {words:?} is in: {text}");
    ensure!(!text.contains(running.password()), "the password shows: {text}");
    let messages = text.matches("sensormark: ").count();
    ensure!(messages == 1, "{messages} messages: {text}");
    ensure!(!text.contains("panicked"), "{text}");
    ensure!(read_folder(&place.results()).is_empty(), "something was begun");
    Ok(())
}

/// The server's user with another password.
pub fn wrong_password(shared: &Shared) -> Outcome {
    shared.with(|server, running| {
        let other = "notthispassword17";
        told(server, running, &running.with_password(other), &["authentication failed"])?;
        Ok(None)
    })
}

/// The server's URL with a port where nobody listens.
pub fn refused(shared: &Shared) -> Outcome {
    shared.with(|server, running| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let address = listener.and_then(|listener| listener.local_addr());
        let port = address.map_err(|error| error.to_string())?.port();
        told(server, running, &running.with_port(port), &["unavailable"])?;
        Ok(None)
    })
}

/// Behind a network that accepts connections and carries nothing.
pub fn silent(shared: &Shared) -> Outcome {
    shared.with(|server, running| {
        let proxy = Proxy::before(running.port())?;
        proxy.fall_silent();
        let url = running.with_port(proxy.port);
        told(server, running, &url, &["timeout", "unavailable"])?;
        Ok(None)
    })
}

/// A server of the program's own that is stopped (SIGSTOP) while it starts.
pub fn not_ready(server: &Server) -> Outcome {
    const SECONDS: u64 = 20;
    let place = Place::new();
    let options = ["--server-memory", MEMORY, "--start-timeout", "20"];
    let on = server.on();
    let mut program = Program::run(&place, ENDLESS, &[&["--on", &on][..], &options].concat())?;
    let root = program.server()?;
    signal("STOP", &processes(root));
    let stopped = Instant::now();
    let ended = program.end(Duration::from_secs(SECONDS + 40))?;
    let took = ended.at.duration_since(stopped);
    ensure!(
        took > Duration::from_secs(SECONDS / 2),
        "it was ready, or was given up, after {} s: {}",
        took.as_secs(),
        ended.said
    );
    ensure!(ended.code == Some(3), "{:?}: {}", ended.code, ended.said);
    for words in [server.title, "did not answer within 20 s", "log"] {
        ensure!(ended.said.contains(words), "{words:?} is not in: {}", ended.said);
    }
    ensure!(processes(root).is_empty(), "processes are left");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}
