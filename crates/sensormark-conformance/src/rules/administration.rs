//! C-A: databases are made, settled, inspected and dropped, and only sensormark's own.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::client::{Client, block_on};
use super::super::data::{BASE, Dataset, SECOND};
use super::super::place::password;
use super::super::rule::{Over, Rule, alone, own};
use super::super::suite::{Case, Suite, administer, parts};
use sensormark_server::Supervisor;
use sensormark_store::batch::{Batch, Column, Values};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::query::{Ask, Query, Selection, TimeRange};
use sensormark_store::server::ServerOptions;
use sensormark_store::size::Size;
use sensormark_store::store::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

pub(super) fn rules() -> Vec<Rule> {
    const LAYOUTS: Over = Over::Measured(&[Dataset::Values]);
    const USUAL: Over = Over::Usual(&[Dataset::Values]);
    vec![
        own!("C-A-01", "the server states its version", Over::Store, version),
        own!("C-A-02", "a database of another owner is not taken over", LAYOUTS, create_foreign),
        own!(
            "C-A-03",
            "a database of another owner is not dropped, and one that is not there may be",
            LAYOUTS,
            drop_foreign
        ),
        own!("C-A-04", "a drop drops its own database alone", LAYOUTS, drop_own),
        own!("C-A-05", "sensormark's databases are listed with their owners", LAYOUTS, listed),
        own!("C-A-11", "databases are listed while others are made and dropped", USUAL, listed_meanwhile),
        own!("C-A-06", "settling twice changes nothing that is stored", LAYOUTS, settle),
        own!("C-A-07", "settings are stated, without secrets, paths and hosts", USUAL, settings),
        own!("C-A-10", "schema and statements are shown, once they are asked for", LAYOUTS, shown),
        // Some servers state the size of all they hold, to which other checks add and from which they take.
        alone!("C-A-08", "the size grows with what is stored", USUAL, size),
        alone!("C-A-09", "logs are on the disk that the user chose, or that is refused", USUAL, logs),
    ]
}

async fn version(case: &Case<'_>) -> Check<Verdict> {
    let endpoint = case.suite.place.endpoint();
    let version = administer("version", case.store().version(&endpoint)).await??;
    ensure!(version.contains(|character: char| character.is_ascii_digit()), "the version is {version:?}");
    Ok(Verdict::Kept)
}

/// Readings of a second apart.
fn batch(case: &Case<'_>, count: u32) -> Batch {
    let table = &case.subject().data.schema.tables[0];
    let mut batch = Batch::new(0, table);
    for row in 0..count {
        batch.series.push(row % table.series.len());
        batch.times_ns.push(BASE + i64::from(row) * SECOND);
    }
    batch.columns[0] =
        Column { values: Values::F64((0..count).map(|row| f64::from(row).sqrt()).collect()), present: None };
    batch
}

/// A database with some readings in it.
async fn filled(case: &Case<'_>) -> Check<Plan> {
    let (plan, mut client) = case.client().await?;
    client.write(&batch(case, 40)).await?;
    client.close().await?;
    Ok(plan)
}

async fn holds(case: &Case<'_>, plan: &Plan) -> Check {
    let mut client = case.connect(plan).await?;
    let census = client.census(&plan.schema).await?;
    client.close().await?;
    ensure!(
        census == case.reference(&[batch(case, 40)]).census(),
        "of 40 readings, {} are stored, or they differ",
        census.readings()
    );
    Ok(())
}

/// The same database, as another run would name it.
fn foreign(plan: &Plan) -> Plan {
    let mut foreign = plan.clone();
    foreign.owner = format!("not{}", plan.owner);
    foreign
}

fn is_foreign(result: Result<(), StoreError>, what: &str) -> Check {
    ensure!(
        matches!(&result, Err(error) if error.kind() == ErrorKind::Foreign),
        "{what} a database of another owner gives {result:?}"
    );
    Ok(())
}

async fn create_foreign(case: &Case<'_>) -> Check<Verdict> {
    let plan = filled(case).await?;
    let mut administrator = case.suite.administrator(&foreign(&plan)).await?;
    let created = administer("create", administrator.create()).await?;
    is_foreign(created, "to create")?;
    holds(case, &plan).await?;
    Ok(Verdict::Kept)
}

async fn drop_foreign(case: &Case<'_>) -> Check<Verdict> {
    let plan = filled(case).await?;
    let mut administrator = case.suite.administrator(&foreign(&plan)).await?;
    let dropped = administer("drop", administrator.drop_database()).await?;
    is_foreign(dropped, "to drop")?;
    holds(case, &plan).await?;
    let absent = case.plan();
    for _ in 0..2 {
        case.suite.drop_database(&absent).await?;
    }
    Ok(Verdict::Kept)
}

async fn drop_own(case: &Case<'_>) -> Check<Verdict> {
    let (kept, dropped) = (filled(case).await?, filled(case).await?);
    case.suite.drop_database(&dropped).await?;
    holds(case, &kept).await?;
    // a new database of the dropped one's name is empty
    case.suite.create(&dropped).await?;
    let mut client = Client::connect(case.store(), &dropped).await?;
    let census = client.census(&dropped.schema).await?;
    client.close().await?;
    ensure!(
        census.readings() == 0,
        "a database made anew holds {} readings of the dropped one",
        census.readings()
    );
    Ok(Verdict::Kept)
}

async fn owner_of(case: &Case<'_>, plan: &Plan) -> Check<Option<String>> {
    let mut administrator = case.suite.administrator(plan).await?;
    let databases = administer("list", administrator.databases()).await??;
    let mut named = databases.into_iter().filter(|(name, _)| name == plan.database.as_str());
    let owner = named.next().map(|(_, owner)| owner);
    ensure!(named.next().is_none(), "{} is listed twice", plan.database);
    Ok(owner)
}

async fn listed(case: &Case<'_>) -> Check<Verdict> {
    let plan = case.database().await?;
    let owner = owner_of(case, &plan).await?;
    ensure!(
        owner.as_deref() == Some(case.suite.owner()),
        "{} is listed as owned by {owner:?}, not by {}",
        plan.database,
        case.suite.owner()
    );
    case.suite.drop_database(&plan).await?;
    let owner = owner_of(case, &plan).await?;
    ensure!(owner.is_none(), "{} is listed after its drop", plan.database);
    Ok(Verdict::Kept)
}

/// How long a database is made and dropped again while others list.
const CHANGES: Duration = Duration::from_secs(3);

/// Another run's drop closes the sessions that look at its database.
async fn listed_meanwhile(case: &Case<'_>) -> Check<Verdict> {
    let (suite, kept) = (case.suite, case.database().await?);
    let is_over = AtomicBool::new(false);
    let (changed, listed) = std::thread::scope(|scope| {
        let plan = case.plan();
        let changing = scope.spawn(|| {
            let changed = block_on(made_and_dropped(suite, plan));
            is_over.store(true, Ordering::Relaxed);
            changed
        });
        let listing = scope.spawn(|| block_on(listed_until(suite, &kept, &is_over)));
        let panicked = |_| Err(Broken("a thread panicked".into()));
        (changing.join().unwrap_or_else(panicked), listing.join().unwrap_or_else(panicked))
    });
    changed.and(listed)?;
    Ok(Verdict::Kept)
}

async fn made_and_dropped(suite: &Suite, plan: Plan) -> Check {
    let start = Instant::now();
    while start.elapsed() < CHANGES {
        suite.create(&plan).await?;
        suite.drop_database(&plan).await?;
    }
    Ok(())
}

async fn listed_until(suite: &Suite, kept: &Plan, is_over: &AtomicBool) -> Check {
    while !is_over.load(Ordering::Relaxed) {
        let mut administrator = suite.administrator(kept).await?;
        let databases = administer("list", administrator.databases()).await??;
        let is_listed = databases.iter().any(|(name, _)| name == kept.database.as_str());
        ensure!(is_listed, "{} is not listed while another is made and dropped", kept.database);
    }
    Ok(())
}

async fn settle(case: &Case<'_>) -> Check<Verdict> {
    let plan = filled(case).await?;
    let mut administrator = case.suite.administrator(&plan).await?;
    for _ in 0..2 {
        administer("settle", administrator.settle()).await??;
        holds(case, &plan).await?;
    }
    Ok(Verdict::Kept)
}

async fn settings(case: &Case<'_>) -> Check<Verdict> {
    let plan = case.database().await?;
    let mut administrator = case.suite.administrator(&plan).await?;
    let settings = administer("settings", administrator.settings()).await??;
    ensure!(!settings.is_empty(), "no settings are stated");
    let names: BTreeSet<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
    ensure!(
        names.len() == settings.len() && !names.contains(""),
        "settings without a name of their own: {settings:?}"
    );
    let secret = password(plan.endpoint.url.expose());
    for setting in &settings {
        let value = setting.value.as_str();
        let shows = secret.as_deref().is_some_and(|secret| value.contains(secret));
        ensure!(!shows, "setting {} shows the password", setting.name);
        let place = ["127.0.0.1", "localhost"].iter().any(|host| value.contains(host));
        ensure!(
            !place && !value.starts_with('/') && !value.contains("://"),
            "setting {} shows a host or path",
            setting.name
        );
    }
    Ok(Verdict::Kept)
}

async fn size(case: &Case<'_>) -> Check<Verdict> {
    let plan = filled(case).await?;
    let before = settled_size(case, &plan).await?;
    ensure!(before.total_bytes > 0, "a database with readings has no size");
    let mut client = case.connect(&plan).await?;
    let mut more = batch(case, 40_000);
    for time in &mut more.times_ns {
        *time += 100_000 * SECOND;
    }
    for part in parts(&more, 10_000) {
        client.write(&part).await?;
    }
    client.close().await?;
    let after = settled_size(case, &plan).await?;
    ensure!(
        after.total_bytes > before.total_bytes,
        "{} bytes before 40,000 readings were written, {} after",
        before.total_bytes,
        after.total_bytes
    );
    for size in [before, after] {
        ensure!(
            size.log_bytes.is_none_or(|log| log <= size.total_bytes),
            "logs are larger than all: {size:?}"
        );
    }
    Ok(Verdict::Kept)
}

async fn settled_size(case: &Case<'_>, plan: &Plan) -> Check<Size> {
    let mut administrator = case.suite.administrator(plan).await?;
    administer("settle", administrator.settle()).await??;
    Ok(administer("size", administrator.size()).await??)
}

async fn logs(case: &Case<'_>) -> Check<Verdict> {
    if case.suite.place.server().is_none() {
        let reason = "sensormark starts no server here";
        return Ok(Verdict::Ignored(reason.to_owned()));
    }
    let chosen = tempfile::tempdir().map_err(|error| error.to_string())?;
    // a server that runs as another user must be able to enter it
    std::fs::set_permissions(chosen.path(), Permissions::from_mode(0o711))
        .map_err(|error| error.to_string())?;
    let options = ServerOptions {
        memory_bytes: 256 << 20,
        clients: 8,
        log_folder: Some(chosen.path().to_owned()),
        ..ServerOptions::default()
    };
    let server = match Supervisor::new(None)?.start(case.store(), &options, None) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            return Ok(Verdict::Ignored(error.to_string()));
        }
        started => started?,
    };
    let mut plan = case.plan();
    plan.endpoint = server.endpoint().clone();
    let folder = server.log_folder().unwrap_or(chosen.path()).to_owned();
    let before = changes(&folder)?;
    administer("create", case.suite.administrator(&plan).await?.create()).await??;
    let mut client = case.connect(&plan).await?;
    client.write(&batch(case, 40)).await?;
    client.close().await?;
    holds(case, &plan).await?;
    // a log may wait in memory for a while
    let deadline = Instant::now() + LOG_PATIENCE;
    while changes(&folder)? == before {
        ensure!(Instant::now() < deadline, "nothing was written to the folder for logs while readings were");
        std::thread::sleep(Duration::from_millis(100));
    }
    server.stop()?;
    let left = changes(chosen.path())?;
    ensure!(left.is_empty(), "left in the folder for logs: {left:?}");
    Ok(Verdict::Kept)
}

/// How long a server may keep what it logs in memory; Cassandra does so for 10 s.
const LOG_PATIENCE: Duration = Duration::from_secs(20);

/// The files below a folder, with the times of their last changes.
fn changes(folder: &Path) -> Check<BTreeMap<PathBuf, (u64, SystemTime)>> {
    let (mut files, mut waiting) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(&path).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            // it may have been removed meanwhile
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() {
                waiting.push(entry.path());
            } else {
                let changed = about.modified().map_err(|error| error.to_string())?;
                files.insert(entry.path(), (about.len(), changed));
            }
        }
    }
    Ok(files)
}

/// A database that shows its statements shows those that were sent since they were asked for, and answers as before.
async fn shown(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let table = &case.subject().data.schema.tables[0];
    let fields = table.all_fields();
    let query = Query {
        table: 0,
        series: Selection::One(0),
        range: TimeRange::new(BASE, BASE + 10 * SECOND),
        ask: Ask::Range { fields, coarse_filter: false },
    };
    client.write(&batch(case, 3)).await?;
    let before = client.ask(&query).await?;
    let kept = client.statements(true).await?;
    ensure!(kept.is_empty(), "unasked, it kept {kept:?}");
    if let Err(error) = client.keep_statements() {
        ensure!(error.kind() == ErrorKind::Unsupported, "statements are not kept: {error}");
        return Ok(Verdict::Ignored(error.to_string()));
    }
    let after = client.ask(&query).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    let asked = client.statements(true).await?;
    // others than before: a key that is there already may be refused
    client.write(&parts(&batch(case, 6), 3)[1]).await?;
    let written = client.statements(true).await?;
    client.close().await?;
    let mut administrator = case.suite.administrator(&plan).await?;
    let schema = administer("show the schema", administrator.schema_text()).await??;
    ensure!(!schema.is_empty(), "no schema is shown");
    for (what, statements) in [("question", &asked), ("write", &written)] {
        ensure!(
            statements.iter().any(|one| !one.text.trim().is_empty()),
            "no statement is shown of a {what}"
        );
    }
    let everything = format!("{asked:?}{written:?}{schema:?}");
    let secret = password(plan.endpoint.url.expose());
    ensure!(
        secret.is_none_or(|secret| secret.is_empty() || !everything.contains(&secret)),
        "the password is shown in {everything}"
    );
    Ok(Verdict::Kept)
}
