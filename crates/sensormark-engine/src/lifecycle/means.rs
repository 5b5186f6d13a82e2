//! A task by a database's own means: statements and programs, which `stores/lifecycle.toml` has for each store and task.
//!
//! A step is a statement of the database's, with slots in braces. One that begins with `$` is a command of the shell, which has the same names as variables: so
//! no password is on a command line. One that begins with `>` is asked of the copy that is brought back, and `= create` makes that copy's empty tables.
//! `= server` makes a second server for it, ended, and `= start` starts that. One that begins with `?` asks whether it can be done: if it finds anything, it cannot.

use super::{Change, Done, Site, Task};
use procfs::process::Process;
use sensormark_result::probe::disk_usage;
use sensormark_server::ManagedServer;
use sensormark_store::layout::Shape;
use sensormark_store::{DatabaseName, ErrorKind, Plan, StoreError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

/// Means of all stores.
const MEANS: &str = include_str!("../../../../stores/lifecycle.toml");

/// The variable that names a file of the user's in its place.
const OWN_MEANS: &str = "SENSORMARK_LIFECYCLE";

/// A task that copies what is stored.
pub const BACKUP: &str = "backup";
/// A task that brings the copy back.
pub const RESTORE: &str = "restore";
/// A task that ends the server as a crash would, and starts it again.
pub const RESTART: &str = "restart";
/// A task that adds a column.
pub const ADD_COLUMN: &str = "add column";
/// A task that deletes what is old.
pub const DELETE: &str = "delete";
/// A task that gives old readings another value.
pub const CORRECT: &str = "correct";

/// Stores by name, and of each its tasks by name; [`ALL`] has what holds for all of them.
type Stores = BTreeMap<String, BTreeMap<String, Entry>>;

/// How each command of the shell begins: it finds programs of the server's own installation, a folder or a program, first.
const BEGIN: &str = r#"umask 077; PATH="${installed:+$installed/bin:${installed%/*}:$installed:}$PATH""#;

/// In place of a task.
const ALL: &str = "all";

/// A task's means in one store.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// The database's documentation of it.
    pub link: String,
    /// What is done.
    pub steps: Vec<String>,
    /// What is otherwise than a reader would expect.
    pub note: String,
    /// So much longer may a reading stay that should be gone: what is dropped is as wide.
    pub slack: Option<String>,
    /// Why it cannot be done: at all, or when a step that asks finds something.
    pub not: String,
    /// What drops the copy, where the administrator cannot: its mark has the first one's name.
    drop: String,
    /// Of all tasks: the store whose means stand for those that it lacks.
    like: String,
    /// Of all tasks: a table and its time in statements.
    pub names: [String; 2],
}

/// What stands in the user's file, or else in ours.
fn stores() -> Result<&'static Stores, StoreError> {
    static STORES: LazyLock<Result<Stores, String>> = LazyLock::new(|| {
        let Some(path) = std::env::var_os(OWN_MEANS).map(PathBuf::from) else {
            return read(MEANS).map_err(|(line, why)| format!("stores/lifecycle.toml, line {line}: {why}"));
        };
        let wrong =
            |what: String| format!("{OWN_MEANS}: {}{what}; mend it, or unset {OWN_MEANS}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(format!(": {error}")))?;
        read(&text).map_err(|(line, why)| wrong(format!(", line {line}: {why}")))
    });
    let wrong = |why: &String| StoreError::new(ErrorKind::Configuration, "read means", why.clone());
    STORES.as_ref().map_err(wrong)
}

/// The line that is wrong, and why.
fn read(text: &str) -> Result<Stores, (usize, String)> {
    toml::from_str(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start)];
        (before.matches('\n').count() + 1, error.message().trim().replace('\n', ", "))
    })
}

/// Reads the means, so that what is wrong with a file of the user's is said before anything is done.
///
/// # Errors
/// File, line, and what to do.
pub fn check_means() -> Result<(), StoreError> {
    stores().map(drop)
}

impl Entry {
    /// The means of a store for a task.
    ///
    /// # Errors
    /// That there are none.
    pub fn of(store: &str, task: &str) -> Result<Self, StoreError> {
        let stores = stores()?;
        let all = |of: &str| stores.get(of)?.get(ALL);
        let mut alike = std::iter::successors(Some(store), |of| Some(all(of)?.like.as_str()));
        let entry = alike.find_map(|of| stores.get(of)?.get(task)).ok_or_else(|| {
            StoreError::unsupported(task, format!("stores/lifecycle.toml has no means of {store} for it"))
        })?;
        let Self { link: docs, names, .. } = all(store).cloned().unwrap_or_default();
        let usual = || ["\"{name}\"", "\"time\""].map(str::to_owned);
        let names = if names[0].is_empty() { usual() } else { names };
        let is_whole = entry.link.starts_with("https://");
        let link = if is_whole { entry.link.clone() } else { docs + &entry.link };
        let alike = |step: &String| match step.as_str() {
            "= like" => Self::of(&all(store)?.like, task).ok().map(|entry| entry.steps),
            _ => Some(vec![step.clone()]),
        };
        let steps = entry.steps.iter().filter_map(alike).flatten().collect();
        Ok(Self { link, names, steps, ..entry.clone() })
    }

    /// A table's name in a statement.
    pub fn table(&self, plan: &Plan, name: &str) -> String {
        self.names[0].replace("{name}", name).replace("{database}", plan.database.as_str())
    }

    /// A column's name in a statement.
    pub fn column(&self, name: &str) -> String {
        let quote = &self.names[1][..1];
        format!("{quote}{name}{quote}")
    }
}

/// A task of this name.
pub struct Means {
    /// One of the names above.
    pub task: String,
    /// The table that it is about.
    pub table: usize,
    /// What it changes.
    pub change: Option<Change>,
    /// How long clients work before it, and after it.
    pub beside: Duration,
}

impl Task for Means {
    fn name(&self) -> &str {
        &self.task
    }

    fn beside(&self) -> Duration {
        self.beside
    }

    fn change(&self) -> Option<Change> {
        self.change.clone()
    }

    fn run(&self, site: &Site<'_>, done: &mut Done) -> Result<(), StoreError> {
        let name = site.deployment.store().description().name;
        if self.task == RESTART {
            if !site.deployment.is_ours() {
                return Err(self.lacks(
                    "an embedded database, or a server that sensormark did not start, has no server to end",
                ));
            }
            done.means.push("SIGKILL, and a start on the same data".to_owned());
            site.deployment.kill()?;
            return site.deployment.restart();
        }
        let entry = Entry::of(&name, &self.task)?;
        done.means.push(entry.link.clone());
        if entry.steps.is_empty() {
            return Err(self.lacks(&entry.not));
        }
        // As the first one's, so that what a crash leaves is found.
        let ending = &site.plan.database.as_str()[DatabaseName::PREFIX.len() + 1..];
        let copy = Plan { database: DatabaseName::new(&format!("f{ending}"))?, ..site.plan.clone() };
        let slots = self.slots(&entry, site, &copy);
        let is_missing =
            |name: &str| slots[name].is_empty() && entry.steps.concat().contains(&format!("${name}"));
        if ["data", "port2"].into_iter().any(is_missing) {
            return Err(self.lacks(
                "it needs the files of a server, or a port, that only one has which sensormark started here",
            ));
        }
        let mut work = Work { task: self, site, copy, entry: &entry, slots };
        let before = programs_seconds(None);
        let outcome = entry.steps.iter().try_for_each(|step| work.step(step, done));
        done.program_seconds = programs_seconds(done.server.as_ref()) - before;
        outcome?;
        done.drop = work.filled(&entry.drop);
        let copy = work.copy;
        done.is_backup = self.task == BACKUP;
        if done.is_backup {
            let usage = disk_usage(site.folder, |_| false);
            done.bytes = usage.ok().map(|usage| usage.allocated_bytes);
        }
        done.restored = (self.task == RESTORE).then_some(copy);
        Ok(())
    }
}

impl Means {
    fn lacks(&self, why: &str) -> StoreError {
        StoreError::unsupported(&*self.task, why)
    }

    /// What slots and the shell's variables hold.
    fn slots(&self, entry: &Entry, site: &Site<'_>, copy: &Plan) -> BTreeMap<&'static str, String> {
        let (plan, deployment) = (site.plan, site.deployment);
        let url = plan.endpoint.url.expose();
        let (_, rest) = url.split_once("://").unwrap_or(("", url));
        let (user, rest) = rest.split_once('@').unwrap_or(("", rest));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
        let port = |place: usize| plan.endpoint.ports.get(place).map(u16::to_string).unwrap_or_default();
        let table = &plan.schema.tables[self.table];
        let data = deployment.data_folder().unwrap_or_default();
        let mut slots = BTreeMap::from([
            ("database", plan.database.to_string()),
            ("restored", copy.database.to_string()),
            ("folder", site.folder.display().to_string()),
            ("data", data.display().to_string()),
            ("host", host.to_owned()),
            ("port", port(0)),
            ("port2", port(1)),
            ("user", user.to_owned()),
            ("password", password.to_owned()),
            ("name", table.name.clone()),
            ("table", entry.table(plan, &table.name)),
            ("time", entry.names[1].clone()),
        ]);
        match &self.change {
            Some(Change::Gone(_, before_ns)) => drop(slots.insert("before", before_ns.to_string())),
            Some(Change::Corrected(_, times, field, value)) => {
                slots.insert("from", times.start.to_string());
                slots.insert("to", times.end.to_string());
                let name = &table.fields[*field].name;
                slots.insert("column", entry.column(name));
                slots.insert("field", name.clone());
                slots.insert("value", format!("{value:?}"));
            }
            None => {}
        }
        slots
    }
}

/// A task at work.
struct Work<'a> {
    task: &'a Means,
    site: &'a Site<'a>,
    copy: Plan,
    entry: &'a Entry,
    slots: BTreeMap<&'static str, String>,
}

impl Work<'_> {
    fn step(&mut self, step: &str, done: &mut Done) -> Result<(), StoreError> {
        let store = self.site.deployment.store();
        let names_table = step.contains("{name}") || step.contains("{table}");
        let is_about_rows = names_table && self.task.task != RESTORE;
        if is_about_rows && !matches!(self.site.plan.layout.shape, Shape::RowPerReading) {
            return Err(self.task.lacks("in this layout a reading is no row of its own"));
        }
        done.means.push(step.to_owned());
        if let Some(command) = step.strip_prefix("$ ") {
            return self.program(command);
        }
        match (step, &done.server) {
            ("= server", _) => {
                let server = self.site.supervisor.start(store, self.site.options, None)?;
                self.copy = Plan { endpoint: server.endpoint().clone(), ..self.site.plan.clone() };
                self.slots.insert("copy", server.data_folder().display().to_string());
                server.halt()?;
                done.server = Some(server);
                return Ok(());
            }
            ("= start", Some(server)) => return server.restart(store),
            _ => {}
        }
        let (plan, statement) = match step.split_at(2) {
            ("> " | "= ", statement) => (&self.copy, statement),
            ("? ", statement) => (self.site.plan, statement),
            _ => (self.site.plan, step),
        };
        let statement = self.filled(statement);
        let found = self.site.deployment.administer(plan, async |administrator| match step {
            "= create" => administrator.create().await.map(|()| Vec::new()),
            _ => administrator.perform(&statement).await,
        })?;
        match step.starts_with("? ") && !found.is_empty() {
            true => Err(self.task.lacks(&self.entry.not)),
            false => Ok(()),
        }
    }

    /// A statement without slots.
    fn filled(&self, statement: &str) -> String {
        let fill =
            |text: String, (name, value): (&&str, &String)| text.replace(&format!("{{{name}}}"), value);
        self.slots.iter().fold(statement.to_owned(), fill)
    }

    /// Runs a command of the shell.
    fn program(&self, command: &str) -> Result<(), StoreError> {
        let failed = |kind, text: String| StoreError::new(kind, &*self.task.task, text);
        let installed = self.site.deployment.store().installation().map(|found| found.path);
        let output = Command::new("sh")
            .args(["-ec", &format!("{BEGIN}; {command}")])
            .env("installed", installed.unwrap_or_default())
            .envs(&self.slots)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(ErrorKind::NotInstalled, error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(()),
            Some(127) => Err(failed(ErrorKind::NotInstalled, format!("a program is missing: {text}"))),
            _ => Err(failed(ErrorKind::Rejected, format!("{command} ends with {}: {text}", output.status))),
        }
    }
}

/// CPU time of the programs that this process has run and waited for, and of a server that still runs, in seconds.
fn programs_seconds(server: Option<&ManagedServer>) -> f64 {
    let own = Process::myself().and_then(|own| own.stat());
    let waited = own.map_or(0, |own| own.cutime + own.cstime);
    let ids = server.map(ManagedServer::process_ids).into_iter().flatten();
    let running = ids.filter_map(|id| Process::new(id.try_into().ok()?).ok()?.stat().ok());
    let ticks = running.map(|of| of.utime + of.stime).sum::<u64>() + waited.unsigned_abs();
    ticks as f64 / procfs::ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_steps_or_a_reason_and_a_link() {
        for (store, tasks) in &read(MEANS).unwrap() {
            for (task, entry) in tasks.iter().filter(|(task, _)| *task != ALL) {
                assert!(store == "sql" || tasks[ALL].link.starts_with("https://"), "{store} {task}");
                assert!(!entry.steps.is_empty() || !entry.not.is_empty(), "{store} {task}");
                let asks = entry.steps.iter().any(|step| step.starts_with("? "));
                assert!(!asks || !entry.not.is_empty(), "{store} {task}");
                let on_a_line = |step: &&String| step.starts_with("$ ") && step.contains("{password}");
                assert_eq!(entry.steps.iter().find(on_a_line), None, "{store} {task}");
            }
        }
        assert!(Entry::of("timescaledb", CORRECT).is_ok(), "as PostgreSQL's");
        assert!(Entry::of("nobody", CORRECT).is_err());
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_line() {
        for (text, line, why) in [
            ("[sqlite.backup]\nsteps = [\"VACUUM\"]\nstepz = []\n", 3, "unknown field `stepz`"),
            ("[sqlite.backup]\nsteps = \n", 2, "string"),
            ("[sqlite.backup]\n\nsteps = 7\n", 3, "invalid type"),
        ] {
            let (found, message) = read(text).err().unwrap();
            assert!(found == line && message.contains(why), "{text}: line {found}: {message}");
        }
    }
}
