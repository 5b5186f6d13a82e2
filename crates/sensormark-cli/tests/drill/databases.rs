//! Databases of ours on what was there before: none may stay, unless the run was killed.

use crate::running::Ended;
use crate::step::{Reach, Step};
use crate::stores;
use crate::support::{Place, read_folder};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
use url::Url;

/// What is on a server, or in a folder, that a run is given the URL of.
pub struct Databases {
    place: Option<Lister>,
    before: Vec<String>,
    password: Option<String>,
}

/// How to ask.
enum Lister {
    Folder(PathBuf),
    Client(&'static str, Url),
}

impl Databases {
    /// The folder of an embedded store that is given by URL.
    pub fn folder(place: &Place) -> PathBuf {
        place.path().join("database")
    }

    /// What is there before the run.
    pub fn before(step: &Step, place: &Place, server: Option<&stores::Running>) -> Self {
        let lister = match (step.reach, server) {
            (Reach::Own, _) => None,
            (_, None) => Some(Lister::Folder(Self::folder(place))),
            (_, Some(server)) => Url::parse(&server.url).ok().and_then(|url| match step.store {
                "postgresql" => Some(Lister::Client("psql", url)),
                "mariadb" => Some(Lister::Client("mariadb", url)),
                _ => None,
            }),
        };
        let before = lister.as_ref().map(Lister::list).unwrap_or_default();
        Self { place: lister, before, password: server.map(|server| server.password().to_owned()) }
    }

    /// What is there now and was not, and secrets that show.
    pub fn violations(&self, ended: &Ended) -> Vec<String> {
        let mut wrong = Vec::new();
        let now = self.place.as_ref().map(Lister::list).unwrap_or_default();
        let mut new: Vec<String> = now.into_iter().filter(|name| !self.before.contains(name)).collect();
        // What cannot be dropped is named, without its file's ending: nothing passes the network any more, or no file can be opened.
        let is_named = |name: &String| {
            let name = name.split('.').next().unwrap_or(name);
            ended.lines.iter().any(|line| line.contains(name))
        };
        new.retain(|name| !is_named(name));
        if !new.is_empty() && ended.status.signal().is_none() {
            wrong.push(format!("databases left by URL: {new:?}"));
        }
        let shows = |text: &str| self.password.as_ref().is_some_and(|secret| text.contains(secret));
        if shows(&ended.output) || ended.lines.iter().any(|line| shows(line)) {
            wrong.push("the password shows".to_owned());
        }
        wrong
    }
}

impl Lister {
    fn list(&self) -> Vec<String> {
        let (program, url) = match self {
            Self::Folder(folder) => {
                let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
                return read_folder(folder).iter().filter_map(name).collect();
            }
            Self::Client(program, url) => (*program, url),
        };
        let (host, port) = (url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(0).to_string());
        let mut command = Command::new(program);
        if program == "psql" {
            command.args([
                "-h",
                host,
                "-p",
                &port,
                "-U",
                url.username(),
                "-d",
                "postgres",
                "-Atc",
                "SELECT datname FROM pg_database",
            ]);
            command.env("PGPASSWORD", url.password().unwrap_or_default());
        } else {
            command.args(["-h", host, "-P", &port, "-u", url.username(), "-Ne", "SHOW DATABASES"]);
            command.env("MYSQL_PWD", url.password().unwrap_or_default());
        }
        let output = command.output().map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&output).into_owned();
        let ours = text.lines().filter(|name| name.starts_with("sensormark"));
        ours.map(str::to_owned).collect()
    }
}
