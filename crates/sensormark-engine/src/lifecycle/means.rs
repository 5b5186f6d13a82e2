//! A task by a database's own means: statements and programs, which `stores/lifecycle.toml` has for each store and task.
//!
//! A step is a template (minijinja) of the database's statements. Each ends with `;` and a new line. What it finds is `found` in the next step. Some steps begin
//! with a mark:
//!
//! | mark | the step |
//! | --- | --- |
//! | `$` | is a command of the shell. Its slots are variables, so that no password is on a command line |
//! | `>` | asks the copy that is brought back |
//! | `?` | asks whether the task can be done: if it finds anything, it cannot |
//! | `= create` | makes the copy's empty tables |
//! | `= server` | makes a second server for the copy, ended |
//! | `= start` | starts that server |

use super::{Done, Site, Task};
use minijinja::value::merge_maps;
use minijinja::{Environment, Error, ErrorKind::InvalidOperation, UndefinedBehavior, Value, context};
use sensormark_data::units::ns_to_seconds;
use sensormark_result::probe::{ProcessTable, disk_usage};
use sensormark_server::ManagedServer;
use sensormark_store::layout::Shape;
use sensormark_store::{DatabaseName, DaySplit, ErrorKind, Plan, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// The variable that names a file of the user's in the place of `stores/lifecycle.toml`.
const OWN_MEANS: &str = "SENSORMARK_LIFECYCLE";

/// A task that copies what is stored.
pub const BACKUP: &str = "backup";
/// A task that brings the copy back.
pub const RESTORE: &str = "restore";
/// A task that ends the server as a crash would, and starts it again.
pub const RESTART: &str = "restart";
/// A task that deletes what is old.
pub const DELETE: &str = "delete";
/// A task that gives old readings another value.
pub const CORRECT: &str = "correct";

/// In place of a task: what holds for all of them.
const ALL: &str = "all";

/// Stores by name, and of each its tasks by name.
type Stores = BTreeMap<String, BTreeMap<String, Entry>>;

/// How each command of the shell begins: it finds programs of the server's own installation, a folder or a program, first.
const BEGIN: &str = r#"umask 077; PATH="${installed:+$installed/bin:${installed%/*}:$installed:}$PATH""#;

/// So many statements of a step are shown: the first of many stand for all.
const MOST_SHOWN: usize = 5;

/// A task's means in one store.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// The database's documentation of it.
    link: String,
    /// What is done.
    steps: Vec<String>,
    /// What is otherwise than a reader would expect; why it cannot be done, without steps, or when a step that asks finds something.
    note: String,
    /// So many days longer may a reading stay that should be gone: what is dropped is as wide.
    slack_days: i64,
    /// What drops the copy, where the administrator cannot: its mark has the first one's name.
    drop: String,
    /// The task whose link and steps it has, as far as it has none. Of all tasks: the store whose means stand for those that it lacks.
    like: String,
    /// Of all tasks: how commands of the shell begin, here and in stores that are like it.
    shell: String,
    /// Of all tasks: a table in statements, where it is not `"{name}"`.
    table: Option<String>,
    /// Of all tasks: the column of a table's times, where it is not `time`.
    time: Option<String>,
    /// Of all tasks: what quotes names, where it is not `"`.
    quote: Option<String>,
}

/// What stands in the user's file, or else in ours.
fn stores() -> Result<&'static Stores, StoreError> {
    static STORES: LazyLock<Result<Stores, String>> = LazyLock::new(|| {
        let read = |text: &str| toml::from_str(text).map_err(|error| error.to_string());
        let Some(path) = std::env::var_os(OWN_MEANS).map(PathBuf::from) else {
            return read(include_str!("../../../../stores/lifecycle.toml"));
        };
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let found = text.and_then(|text| read(&text));
        found.map_err(|why| format!("unset {OWN_MEANS}, or mend {}: {why}", path.display()))
    });
    let wrong = |why: &String| StoreError::new(ErrorKind::Configuration, "read means", why.clone());
    STORES.as_ref().map_err(wrong)
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
    /// Why there are none.
    pub fn of(store: &str, task: &str) -> Result<Self, StoreError> {
        let stores = stores()?;
        let alike = || std::iter::successors(stores.get(store), |tasks| stores.get(&tasks.get(ALL)?.like));
        let found = alike().find_map(|tasks| Some((tasks, tasks.get(task)?)));
        let (tasks, entry) = found.ok_or_else(|| {
            StoreError::unsupported(task, format!("stores/lifecycle.toml has no means of {store} for it"))
        })?;
        let all = || alike().filter_map(|tasks| tasks.get(ALL));
        let own = all().next().cloned().unwrap_or_default();
        let like = tasks.get(&entry.like).unwrap_or(entry);
        let page = if entry.link.is_empty() { &like.link } else { &entry.link };
        let link = tasks.get(ALL).unwrap_or(&own).link.clone() + page;
        let steps = if entry.steps.is_empty() { &like.steps } else { &entry.steps };
        if steps.is_empty() {
            return Err(StoreError::unsupported(task, format!("{} ({link})", entry.note)));
        }
        Ok(Self {
            link,
            steps: steps.clone(),
            shell: all().map(|all| all.shell.as_str()).collect(),
            table: own.table,
            time: own.time,
            quote: own.quote,
            ..entry.clone()
        })
    }
}

impl Task {
    /// Does it. Statements and programs go into `done` as they are done.
    ///
    /// # Errors
    /// What failed. [`ErrorKind::Unsupported`] and `NotInstalled`: the database has no means for it here, and why.
    pub(crate) fn run(&self, site: &Site<'_>, done: &mut Done) -> Result<(), StoreError> {
        if self.name == RESTART {
            site.deployment.kill()?;
            done.record.means.push("SIGKILL, and a start on the same data".to_owned());
            return site.deployment.restart();
        }
        // As the first one's, so that what a crash leaves is found.
        let ending = &site.plan.database.as_str()[DatabaseName::PREFIX.len() + 1..];
        let copy = Plan { database: DatabaseName::new(&format!("f{ending}"))?, ..site.plan.clone() };
        let mut work = Work { task: self, site, slots: slots(site, &copy), copy, found: Vec::new() };
        let before = programs_seconds(None);
        let outcome = self.parts.iter().try_for_each(|part| match work.part(part, done) {
            Err(error) if self.is_round && error.kind() == ErrorKind::Unsupported => {
                done.record.means.push(error.context().to_owned());
                Ok(())
            }
            outcome => outcome,
        });
        // What another trial has otherwise is shown as the shell's variables.
        for text in &mut done.record.means {
            for name in ["database", "restored", "folder"] {
                *text = text.replace(&work.slots[name], &format!("${name}"));
            }
        }
        done.record.program_seconds = programs_seconds(done.server.as_ref()) - before;
        done.restored = (self.name == RESTORE).then_some(work.copy);
        if self.name == BACKUP {
            let usage = disk_usage(site.folder, |_| false);
            done.record.bytes = usage.ok().map(|usage| usage.allocated_bytes);
        }
        outcome
    }
}

/// What slots of statements and the shell's variables hold.
fn slots(site: &Site<'_>, copy: &Plan) -> BTreeMap<&'static str, String> {
    let plan = site.plan;
    let url = plan.endpoint.url.expose();
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let (login, rest) = rest.split_once('@').unwrap_or(("", rest));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
    let port = |place: usize| plan.endpoint.ports.get(place).map(u16::to_string).unwrap_or_default();
    let data = site.deployment.data_folder().unwrap_or_default();
    let texts: [(&str, &str); 9] = [
        ("database", plan.database.as_str()),
        ("restored", copy.database.as_str()),
        ("folder", &site.folder.to_string_lossy()),
        ("data", &data.to_string_lossy()),
        ("host", host),
        ("port", &port(0)),
        ("port2", &port(1)),
        ("user", user),
        ("password", password),
    ];
    texts.map(|(name, text)| (name, text.to_owned())).into()
}

/// A task at work.
struct Work<'a> {
    task: &'a Task,
    site: &'a Site<'a>,
    copy: Plan,
    slots: BTreeMap<&'static str, String>,
    /// What the step before has found.
    found: Vec<String>,
}

impl Work<'_> {
    fn part(&mut self, (kind, told): &(String, Value), done: &mut Done) -> Result<(), StoreError> {
        let entry = Entry::of(&self.site.deployment.store().description().name, kind)?;
        done.record.means.push(format!("{} {}", entry.note, entry.link).trim().to_owned());
        let is_missing =
            |name: &str| self.slots[name].is_empty() && entry.steps.concat().contains(&format!("${name}"));
        let unable = |why: &str| Err(StoreError::unsupported(&*self.task.name, why));
        let is_of_rows = ![BACKUP, RESTORE].contains(&kind.as_str());
        if is_of_rows && !matches!(self.site.plan.layout.shape, Shape::RowPerReading) {
            return unable("in this layout a reading is no row of its own");
        }
        if is_missing("data") || is_missing("port2") {
            return unable(
                "it needs the files of a server, or a port, that only one has which sensormark started here",
            );
        }
        let began = Instant::now();
        entry.steps.iter().try_for_each(|step| self.step(&entry, step, told, done))?;
        done.record.parts.push((kind.clone(), began.elapsed().as_secs_f64()));
        done.slack_ns += entry.slack_days * DaySplit::DAY_NS;
        done.drop = self.rendered(&entry, &entry.drop, told)?.concat();
        Ok(())
    }

    fn step(&mut self, entry: &Entry, step: &str, told: &Value, done: &mut Done) -> Result<(), StoreError> {
        let (deployment, store) = (self.site.deployment, self.site.deployment.store());
        if step.starts_with('=') {
            done.record.means.push(step.to_owned());
        }
        match (step, step.strip_prefix("$ "), &done.server) {
            ("= create", ..) => {
                deployment.administer(&self.copy, async |administrator| administrator.create().await)
            }
            ("= server", ..) => {
                let server = self.site.supervisor.start(store, self.site.options, None)?;
                self.copy = Plan { endpoint: server.endpoint().clone(), ..self.site.plan.clone() };
                self.slots.insert("copy", server.data_folder().display().to_string());
                server.halt()?;
                done.server = Some(server);
                Ok(())
            }
            ("= start", _, Some(server)) => server.restart(store),
            (_, Some(command), _) => {
                let command = format!("{}{command}", entry.shell);
                done.record.means.push(format!("$ {command}"));
                self.program(&command)
            }
            _ => {
                let statements = self.rendered(entry, step.trim_start_matches(['>', '?']), told)?;
                done.record.means.extend(statements.iter().take(MOST_SHOWN).cloned());
                let plan = if step.starts_with('>') { &self.copy } else { self.site.plan };
                let mut found = Vec::new();
                deployment.administer(plan, async |administrator| {
                    for statement in &statements {
                        found.extend(administrator.perform(statement).await?);
                    }
                    Ok(())
                })?;
                if step.starts_with('?') && !found.is_empty() {
                    return Err(StoreError::unsupported(&*self.task.name, &*entry.note));
                }
                self.found = found;
                Ok(())
            }
        }
    }

    /// The statements of a step.
    fn rendered(&self, entry: &Entry, text: &str, told: &Value) -> Result<Vec<String>, StoreError> {
        let plan = self.site.plan;
        let named = entry.table.as_deref().unwrap_or("\"{name}\"");
        let named = named.replace("{database}", plan.database.as_str());
        let tables = plan.schema.tables.iter().map(|table| named.replace("{name}", &table.name));
        let tables: Vec<String> = tables.collect();
        let number = self.task.table;
        let all = context! {
            name => plan.schema.tables[number].name, table => tables[number], tables,
            time => entry.time.as_deref().unwrap_or("time"), found => self.found, password => (),
            ..merge_maps([told.clone(), Value::from(self.slots.clone())])
        };
        let wrong = |why| StoreError::new(ErrorKind::Configuration, &*self.task.name, why);
        let text = render(text, all).map_err(wrong)?;
        let text = text.replace('"', entry.quote.as_deref().unwrap_or("\""));
        let each = text.split(";\n").map(|one| one.trim().trim_end_matches(';'));
        Ok(each.filter(|one| !one.is_empty()).map(str::to_owned).collect())
    }

    /// Runs a command of the shell.
    fn program(&self, command: &str) -> Result<(), StoreError> {
        let failed = |kind, text: String| StoreError::new(kind, &*self.task.name, text);
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

/// A template of minijinja with these values.
///
/// # Errors
/// What is wrong with it, in words: also that a value is not there, and what the template itself refuses.
pub fn render(text: &str, values: impl Serialize) -> Result<String, String> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.add_function("refuse", |why: String| Err::<String, _>(Error::new(InvalidOperation, why)));
    let rendered = templates.render_str(text, values);
    rendered.map_err(|error| match (error.kind(), error.detail()) {
        (InvalidOperation, Some(why)) => why.to_owned(),
        _ => error.to_string(),
    })
}

/// CPU time of the programs that this process has run and waited for, and of a server that still runs, in seconds.
fn programs_seconds(server: Option<&ManagedServer>) -> f64 {
    let table = ProcessTable::scan().unwrap_or_default();
    let own = table.get(std::process::id().cast_signed());
    let waited = own.map_or(0, |own| own.children_user_ns + own.children_system_ns);
    let running = server.and_then(|server| table.get(server.process_id().cast_signed()));
    ns_to_seconds(running.map_or(0, |of| of.user_ns + of.system_ns) + waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_steps_or_a_reason_and_a_link() {
        for (store, tasks) in stores().unwrap() {
            for (task, entry) in tasks.iter().filter(|(task, _)| *task != ALL) {
                assert!(store == "sql" || tasks[ALL].link.starts_with("https://"), "{store} {task}");
                let has_any = !(entry.steps.is_empty() && entry.note.is_empty() && entry.like.is_empty());
                assert!(has_any, "{store} {task}");
                let asks = entry.steps.iter().any(|step| step.starts_with('?'));
                assert!(!asks || !entry.note.is_empty(), "{store} {task}");
                let in_a_statement = |step: &&String| step.contains("{{ password");
                assert_eq!(entry.steps.iter().find(in_a_statement), None, "{store} {task}");
            }
        }
        assert!(Entry::of("timescaledb", CORRECT).is_ok(), "as PostgreSQL's");
        assert!(Entry::of("nobody", CORRECT).is_err());
    }

    #[test]
    fn a_page_is_sought_where_it_is() {
        for (store, task, link) in [
            ("postgresql", BACKUP, "https://www.postgresql.org/docs/current/app-pgdump.html"),
            // It was sought at TimescaleDB's.
            ("timescaledb", BACKUP, "https://www.postgresql.org/docs/current/app-pgdump.html"),
            ("timescaledb", "retention", "https://www.tigerdata.com/docs/api/latest/hypertable/drop_chunks"),
            ("timescaledb", CORRECT, "https://www.tigerdata.com/docs/"),
            ("questdb", RESTORE, "https://questdb.com/docs/operations/backup/"),
            ("sqlite", "retention", "https://www.sqlite.org/"),
        ] {
            assert_eq!(Entry::of(store, task).unwrap().link, link, "{store} {task}");
        }
    }
}
