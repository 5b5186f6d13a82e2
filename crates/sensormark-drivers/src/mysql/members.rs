//! The members of a Galera cluster as sessions see them: which takes writes, which answers questions, and whether one is in step with the others.
//!
//! Every member would take writes. Writes of two members to the same rows are refused at commit, so all sessions of a process write at one member until it is lost.
//! <https://mariadb.com/kb/en/about-galera-replication/>

use super::Link;
use super::url::Options;
use crate::Fault;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use sensormark_store::{ErrorKind, StoreError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Errors of a member that takes no statements now, or is on its way down.
const GONE: [&str; 4] = ["1047", "1053", "1077", "1079"];

/// Which member sessions of this process write at, and which one is asked next.
#[derive(Debug, Default)]
pub(super) struct Turn {
    writer: AtomicUsize,
    asked: AtomicUsize,
}

/// The turns of all clusters that the process speaks to, by their hosts.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Arc<Turn>>>);

impl Turns {
    /// That of the cluster in this URL.
    pub(super) fn of(&self, options: &Options) -> Arc<Turn> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(options.name()).or_default())
    }
}

/// What a member says of itself.
#[derive(Debug, Default)]
struct Standing {
    /// `wsrep_local_state_comment`: `Synced` where it has what the others have.
    state: String,
    /// `wsrep_cluster_status`: `Primary` where most of the members see each other.
    status: String,
}

impl Standing {
    /// Whether it takes statements, and has what the others have.
    fn serves(&self) -> bool {
        self.state == "Synced" && self.status == "Primary"
    }
}

/// Asks a member what it is.
///
/// # Errors
/// When it does not answer, or takes no statements.
async fn standing(link: &mut Link) -> Result<Standing, Fault> {
    let text =
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_status')";
    let rows: Vec<(String, String)> = link
        .with("ask a member of the cluster", async |conn: &mut Conn| {
            conn.query::<(String, String), _>(text).await
        })
        .await?;
    let mut standing = Standing::default();
    for (name, value) in rows {
        match name.as_str() {
            "wsrep_local_state_comment" => standing.state = value,
            _ => standing.status = value,
        }
    }
    Ok(standing)
}

/// Connects to the one server, or to the member that takes this process's writes: the same as before as long as it serves, then the next that does.
///
/// # Errors
/// When none of the hosts can be had.
pub(super) async fn open_writer(
    options: &Options,
    turn: &Turn,
    database: Option<&str>,
    timeout: Duration,
) -> Result<Link, Fault> {
    if options.hosts() == 1 {
        return Link::open(options, 0, database).await;
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
pub(super) async fn open_other(
    options: &Options,
    turn: &Turn,
    database: Option<&str>,
    timeout: Duration,
) -> Result<Link, Fault> {
    let writer = turn.writer.load(Ordering::Acquire);
    let others = options.hosts() - 1;
    let next = turn.asked.fetch_add(1, Ordering::Relaxed);
    let hosts = (0..others).map(|step| (writer + 1 + (next + step) % others) % options.hosts());
    let (_, link) = open_one(options, hosts, database, timeout).await?;
    Ok(link)
}

/// Connects to the first of these hosts that serves. Each has its part of the time, so that one that does not answer leaves some to the others.
async fn open_one(
    options: &Options,
    hosts: impl Iterator<Item = usize>,
    database: Option<&str>,
    timeout: Duration,
) -> Result<(usize, Link), Fault> {
    let share = timeout / u32::try_from(options.hosts()).unwrap_or(1);
    let mut last = None;
    for host in hosts {
        match tokio::time::timeout(share, open_serving(options, host, database)).await {
            Ok(Ok(link)) => return Ok((host, link)),
            Ok(Err(fault)) if is_gone(&fault) => last = Some(fault),
            Ok(Err(fault)) => return Err(fault),
            Err(_) => {
                let text = format!("a member did not answer within {} ms", share.as_millis());
                last = Some(unavailable(ErrorKind::Timeout, text));
            }
        }
    }
    let nobody = || {
        let text = "no member of the cluster is left to connect to";
        unavailable(ErrorKind::Unavailable, text.to_owned())
    };
    Err(last.unwrap_or_else(nobody))
}

/// Whether another member may do.
fn is_gone(fault: &Fault) -> bool {
    match fault {
        Fault::Known(error) => matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout),
        Fault::Refused { codes, .. } => codes.iter().any(|code| GONE.contains(&code.as_str())),
        Fault::Partly { fault, .. } => is_gone(fault),
        Fault::FromReadings => false,
    }
}

fn unavailable(kind: ErrorKind, text: String) -> Fault {
    Fault::Known(StoreError::new(kind, "connect to MariaDB", text).with_doubt(false))
}

async fn open_serving(options: &Options, host: usize, database: Option<&str>) -> Result<Link, Fault> {
    let mut link = Link::open(options, host, database).await?;
    let found = standing(&mut link).await?;
    if found.serves() {
        return Ok(link);
    }
    link.close().await;
    let text = format!(
        "a member of the cluster is not in step ({}, {}); look into its log",
        found.state, found.status
    );
    Err(unavailable(ErrorKind::Unavailable, text))
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
        let of = |state: &str, status: &str| Standing { state: state.to_owned(), status: status.to_owned() };
        assert!(of("Synced", "Primary").serves());
        assert!(!of("Donor/Desynced", "Primary").serves());
        assert!(!of("Synced", "non-Primary").serves());
    }
}
