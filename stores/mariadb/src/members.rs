//! The members of a Galera cluster as sessions see them: which takes writes, which answers questions, and whether one is in step with the others.
//!
//! Every member would take writes. Writes of two members to the same rows are refused at commit, so all sessions of a process write at one member until it is lost.
//! <https://mariadb.com/kb/en/about-galera-replication/>

use crate::config::Options;
use crate::connection::{Link, cell};
use sensormark_store::{ErrorKind, Setting, StoreError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Which member sessions of this process write at, and which one is asked next.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    writer: AtomicUsize,
    asked: AtomicUsize,
}

/// The turns of all clusters that the process speaks to, by their hosts.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Arc<Turn>>>);

impl Turns {
    /// That of the cluster in this URL.
    pub(crate) fn of(&self, options: &Options) -> Arc<Turn> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(options.name()).or_default())
    }
}

/// What a member says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// `wsrep_local_state_comment`: `Synced` where it has what the others have.
    pub(crate) state: String,
    /// `wsrep_cluster_status`: `Primary` where most of the members see each other.
    status: String,
    /// `wsrep_cluster_size`: the members that see each other.
    pub(crate) size: usize,
}

impl Standing {
    /// Whether it takes statements, and has what the others have.
    pub(crate) fn serves(&self) -> bool {
        self.state == "Synced" && self.status == "Primary"
    }
}

/// Asks a member what it is.
///
/// # Errors
/// When it does not answer, or takes no statements.
pub(crate) async fn standing(link: &mut Link) -> Result<Standing, StoreError> {
    let mut standing = Standing::default();
    let text = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_status', 'wsrep_cluster_size')";
    link.rows("ask a member of the cluster", text, Vec::new(), &mut |row| {
        let value = cell::text(&row, 1)?;
        match cell::text(&row, 0)? {
            "wsrep_local_state_comment" => value.clone_into(&mut standing.state),
            "wsrep_cluster_status" => value.clone_into(&mut standing.status),
            _ => standing.size = value.parse().unwrap_or_default(),
        }
        Ok(())
    })
    .await?;
    Ok(standing)
}

/// Options of Galera's library that matter; others name addresses and folders.
const PROVIDER_SETTINGS: [&str; 5] =
    ["evs.suspect_timeout", "gcache.size", "gcs.fc_limit", "pc.recovery", "repl.causal_read_timeout"];

/// The settings of the cluster, as a member states them. What sessions wait for is theirs.
///
/// # Errors
/// When it does not answer.
pub(crate) async fn settings(link: &mut Link) -> Result<Vec<Setting>, StoreError> {
    const OPERATION: &str = "read settings";
    let size = standing(link).await?.size;
    let sync_wait = "SELECT @@SESSION.wsrep_sync_wait";
    let sync_wait = link.number(OPERATION, sync_wait).await?;
    let setting = |name: &str, value: String| Setting { name: name.to_owned(), value };
    let mut settings = vec![
        setting("members that see each other", size.to_string()),
        setting("wsrep_sync_wait", sync_wait.to_string()),
    ];
    let text = "SELECT @@GLOBAL.wsrep_provider_options";
    link.rows(OPERATION, text, Vec::new(), &mut |row| {
        let parts = cell::text(&row, 0)?.split(';');
        let parts = parts.filter_map(|part| part.split_once('='));
        let shown = parts.filter(|(name, _)| PROVIDER_SETTINGS.contains(&name.trim()));
        settings.extend(shown.map(|(name, value)| setting(name.trim(), value.trim().to_owned())));
        Ok(())
    })
    .await?;
    Ok(settings)
}

/// Connects to the one server, or to the member that takes this process's writes: the same as before as long as it serves, then the next that does.
///
/// # Errors
/// When none of the hosts can be had.
pub(crate) async fn open_writer(
    options: &Options,
    turn: &Turn,
    database: Option<&str>,
    timeout: Duration,
) -> Result<Link, StoreError> {
    if options.hosts() == 1 {
        return Link::open(options, 0, database, timeout).await;
    }
    let first = turn.writer.load(Ordering::Acquire);
    let hosts = (0..options.hosts()).map(|step| (first + step) % options.hosts());
    let (host, link) = open_one(options, hosts, database, timeout).await?;
    if host != first {
        // Only the first that finds it lost says who is next; the others follow.
        let _ = turn.writer.compare_exchange(first, host, Ordering::AcqRel, Ordering::Acquire);
    }
    Ok(link)
}

/// Connects to a member that takes no writes of this process, each time to another.
///
/// # Errors
/// When none of them can be had.
pub(crate) async fn open_other(
    options: &Options,
    turn: &Turn,
    database: Option<&str>,
    timeout: Duration,
) -> Result<Link, StoreError> {
    let writer = turn.writer.load(Ordering::Acquire);
    let others = options.hosts() - 1;
    let next = turn.asked.fetch_add(1, Ordering::Relaxed);
    let hosts = (0..others).map(|step| (writer + 1 + (next + step) % others) % options.hosts());
    let (_, link) = open_one(options, hosts, database, timeout).await?;
    Ok(link)
}

/// Connects to the first of these hosts that serves.
async fn open_one(
    options: &Options,
    hosts: impl Iterator<Item = usize>,
    database: Option<&str>,
    timeout: Duration,
) -> Result<(usize, Link), StoreError> {
    let mut last = None;
    for host in hosts {
        match open_serving(options, host, database, timeout).await {
            Ok(link) => return Ok((host, link)),
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout) => {
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        let text = "no member of the cluster is left to connect to";
        StoreError::new(ErrorKind::Unavailable, "connect to MariaDB", text).with_doubt(false)
    }))
}

async fn open_serving(
    options: &Options,
    host: usize,
    database: Option<&str>,
    timeout: Duration,
) -> Result<Link, StoreError> {
    let mut link = Link::open(options, host, database, timeout).await?;
    let found = standing(&mut link).await?;
    if found.serves() {
        return Ok(link);
    }
    link.close().await?;
    let text = format!(
        "a member of the cluster is not in step ({}, {}); look into its log",
        found.state, found.status
    );
    Err(StoreError::new(ErrorKind::Unavailable, "connect to MariaDB", text).with_doubt(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_one_cluster_share_their_turn() {
        let turns = Turns::default();
        let one = Options::parse("mariadb://u@a,b,c/").unwrap();
        let other = Options::parse("mariadb://u@a,b/").unwrap();
        turns.of(&one).writer.store(2, Ordering::Relaxed);
        assert_eq!(turns.of(&one).writer.load(Ordering::Relaxed), 2);
        assert_eq!(turns.of(&other).writer.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_member_serves_only_in_step_and_among_most() {
        let of = |state: &str, status: &str| Standing {
            state: state.to_owned(),
            status: status.to_owned(),
            size: 3,
        };
        assert!(of("Synced", "Primary").serves());
        assert!(!of("Donor/Desynced", "Primary").serves());
        assert!(!of("Synced", "non-Primary").serves());
    }
}
