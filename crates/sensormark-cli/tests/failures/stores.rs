//! The servers that are tried, and one of each that is there for several tests.

use crate::support::{Place, errors, read_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Memory of each server, in MB.
pub const MEMORY: &str = "256";

/// A store whose server is tried.
#[derive(Debug, Clone)]
pub struct Server {
    /// The store's name.
    pub name: &'static str,
    /// The database's name as people write it.
    pub title: &'static str,
}

impl Server {
    /// All stores that have servers.
    pub fn all() -> Vec<Self> {
        let all = [
            ("postgresql", "PostgreSQL"),
            ("mariadb", "MariaDB"),
            ("mongodb", "MongoDB"),
            ("influxdb", "InfluxDB"),
            ("cassandra", "Cassandra"),
            ("griddb", "GridDB"),
            ("questdb", "QuestDB"),
        ];
        let server = |(name, title)| Self { name, title };
        all.into_iter().map(server).collect()
    }

    /// The stores that have none.
    pub const fn embedded() -> [Self; 2] {
        [Self { name: "sqlite", title: "SQLite" }, Self { name: "duckdb", title: "DuckDB" }]
    }

    /// Whether it is one of those.
    pub fn is_embedded(&self) -> bool {
        Self::embedded().iter().any(|one| one.name == self.name)
    }

    /// Why it cannot be tried here.
    pub fn missing(&self) -> Option<String> {
        let lines = doctor();
        let line = lines.iter().find(|line| line.trim_start().starts_with(self.title));
        match line {
            Some(line) if line.contains("not installed") => Some(line.trim().to_owned()),
            Some(_) => None,
            None => Some(format!("this build knows no {}", self.title)),
        }
    }

    /// Why a proxy is not in its clients' way, where it is not.
    pub fn past_proxies(&self) -> Option<String> {
        let reason = match self.name {
            "griddb" => {
                "its client asks the cluster for the node of a container, and goes to the address that this states"
            }
            "questdb" => "its lines go to the port of HTTP, and the proxy is before that of questions",
            _ => return None,
        };
        Some(format!(
            "{}: {reason}, past the proxy: silence in mid-load is tried by stopping the server",
            self.title
        ))
    }

    /// What to measure, of a server that is started: readings one by one.
    pub fn on(&self) -> String {
        // One layout: a family's plain name stands for several, where a store measures several unasked.
        let layout = match self.name {
            "sqlite" | "mariadb" => "individual-clustered",
            "mongodb" => "individual-unordered",
            "influxdb" => "individual-gzip",
            "griddb" => "individual-time-series",
            "questdb" => "individual-no-index",
            _ => "individual",
        };
        format!("{}:{layout}", self.name)
    }
}

/// What `sensormark doctor` says; asked once.
fn doctor() -> &'static [String] {
    static LINES: OnceLock<Vec<String>> = OnceLock::new();
    LINES.get_or_init(|| {
        let output = Place::new().run(&["doctor"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::to_owned).collect()
    })
}

/// A server that is started when the first test wants it, and stopped at the end.
pub struct Shared {
    /// Which.
    pub server: Server,
    running: Mutex<Option<Running>>,
}

impl Shared {
    /// Not started yet.
    pub const fn new(server: Server) -> Self {
        Self { server, running: Mutex::new(None) }
    }

    /// Does something with the server, alone.
    ///
    /// # Errors
    /// When it cannot be started, or what `test` says.
    pub fn with<T>(&self, test: impl FnOnce(&Server, &Running) -> Result<T, String>) -> Result<T, String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match &mut *running {
            Some(running) => running,
            none => none.insert(Running::start(&self.server)?),
        };
        test(&self.server, running)
    }
}

/// A server that was left running, of the durable class.
pub struct Running {
    name: &'static str,
    place: Place,
    /// Its URL, with its password.
    pub url: String,
    /// Its run's name.
    pub run: String,
    /// The id of its root process.
    pub process: u32,
}

impl Running {
    fn start(server: &Server) -> Result<Self, String> {
        let place = Place::new();
        let arguments = ["servers", "start", server.name];
        let options = ["--server-memory", MEMORY, "--durability", "durable"];
        let started = place.run(&[&arguments[..], &options].concat());
        ensure!(started.status.success(), "{}", errors(&started));
        let file = find(&place.path().join("state"), "endpoint.json").ok_or("no endpoint.json")?;
        let url = read(&file)?["url"].as_str().unwrap_or_default().to_owned();
        let owner = owner(&place).ok_or("no ownership file")?;
        let run = owner["run"].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            name: server.name,
            url,
            run,
            process: process(&owner).ok_or("no process is written down")?,
            place,
        })
    }

    /// A command in the place where the server is known by its run's name.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The password in the URL.
    pub fn password(&self) -> &str {
        let secret = self.url.split('@').next().unwrap_or_default();
        secret.rsplit(':').next().unwrap_or_default()
    }

    /// The URL with another password.
    pub fn with_password(&self, other: &str) -> String {
        self.url.replacen(self.password(), other, 1)
    }

    /// The port in the URL.
    pub fn port(&self) -> u16 {
        let after = self.url.split("@127.0.0.1:").nth(1).unwrap_or_default();
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }

    /// The URL with another port.
    pub fn with_port(&self, other: u16) -> String {
        let (mine, other) = (self.port(), format!("@127.0.0.1:{other}"));
        self.url.replacen(&format!("@127.0.0.1:{mine}"), &other, 1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.place.run(&["servers", "stop", self.name]);
    }
}

/// The file of this name below a folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    read_folder(folder).into_iter().find_map(|path| {
        if path.ends_with(name) {
            Some(path)
        } else if path.is_dir() {
            find(&path, name)
        } else {
            None
        }
    })
}

fn read(file: &Path) -> Result<Value, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

/// What is written down of the one server in a place; none before there is one.
pub fn owner(place: &Place) -> Option<Value> {
    let state = place.path().join("state");
    let mut files = read_folder(&state).into_iter().map(|run| run.join("sensormark-owner.json"));
    files.find_map(|file| read(&file).ok().filter(|owner| !owner["server"].is_null()))
}

/// The root process that is written down.
pub fn process(owner: &Value) -> Option<u32> {
    let pid = owner["server"]["pid"].as_u64()?;
    u32::try_from(pid).ok()
}

/// The living processes of a server: its root, the session that this leads, and all their descendants (which may lead sessions of their own).
pub fn processes(root: u32) -> Vec<u32> {
    let all: Vec<Entry> =
        read_folder(Path::new("/proc")).iter().filter_map(|path| Entry::read(path)).collect();
    let mut inside: Vec<u32> =
        all.iter().filter(|one| one.pid == root || one.session == root).map(|one| one.pid).collect();
    loop {
        let more = all.iter().filter(|one| inside.contains(&one.parent) && !inside.contains(&one.pid));
        let more: Vec<u32> = more.map(|one| one.pid).collect();
        if more.is_empty() {
            break;
        }
        inside.extend(more);
    }
    let ended = |pid: &u32| all.iter().any(|one| one.pid == *pid && one.has_ended);
    inside.retain(|pid| !ended(pid));
    inside
}

/// A process, as the kernel lists it.
struct Entry {
    pid: u32,
    parent: u32,
    session: u32,
    has_ended: bool,
}

impl Entry {
    fn read(folder: &Path) -> Option<Self> {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        // After the name, which may hold anything: state, parent, group, session.
        let mut words = stat.rsplit(')').next()?.split_whitespace();
        Some(Self {
            pid,
            has_ended: words.next()? == "Z",
            parent: words.next()?.parse().ok()?,
            session: words.nth(1)?.parse().ok()?,
        })
    }
}

/// Sends a signal to processes of a test's own.
pub fn signal(name: &str, processes: &[u32]) {
    let numbers = processes.iter().map(u32::to_string);
    let sent = Command::new("kill").arg(format!("-{name}")).args(numbers).output();
    sent.expect("kill is there");
}
