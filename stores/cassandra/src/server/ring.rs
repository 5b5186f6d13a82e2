//! Clusters of our own: the consistency levels that they have, how a node is set up, and how nodes are joined.
//!
//! The first node is the seed. Each further node joins when the one before it serves, as Cassandra's documentation has it. Readings have three copies.

use super::configuration::Place;
use super::java::management_port;
use super::{CONFIGURATION, launch_one};
use crate::config::Options;
use crate::connection::Link;
use crate::query::decode;
use scylla::statement::Consistency as Replicas;
use sensormark_kit::url::own_server;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Clusters, Consistency, Endpoint, ErrorKind, Installation, Leadership, MemberLaunch, ServerOptions,
    StoreError,
};
use std::time::Duration;

const OPERATION: &str = "join the nodes to a cluster";

/// Copies of each row.
const COPIES: usize = 3;

/// The data centre that a node is in when nobody says otherwise (SimpleSnitch).
const DATACENTER: &str = "datacenter1";

/// How often nodes are asked whether they see the others.
const POLL: Duration = Duration::from_millis(200);
/// How long all copies may take to answer before they are asked again. A read that was sent while one of them was coming back is answered by nobody.
const ANSWER: Duration = Duration::from_secs(2);
/// How long one statement may take.
const PATIENCE: Duration = Duration::from_secs(20);

const LINK: &str =
    "https://cassandra.apache.org/doc/latest/cassandra/architecture/dynamo.html#tunable-consistency";

/// What each level promises; the names are those of the URL's option `consistency`.
const LEVELS: [Consistency; 3] = [
    Consistency {
        name: "quorum",
        promise: "two of three copies answer each write and each read, so a read sees every acknowledged write, and a lost node stops nothing",
        link: LINK,
        relaxed: true,
    },
    Consistency {
        name: "one",
        promise: "one of three copies answers, so a read may for a moment lack acknowledged writes, and a lost node may take some with it",
        link: LINK,
        relaxed: true,
    },
    Consistency {
        name: "all",
        promise: "all three copies answer each write and each read, so a read sees every acknowledged write, and a lost node stops everything",
        link: LINK,
        relaxed: true,
    },
];

/// What sensormark can start.
pub(crate) fn clusters() -> Clusters {
    Clusters { members: 3..=3, consistencies: LEVELS.to_vec(), leadership: Leadership::None }
}

/// Whether every acknowledged write is on several nodes: then the loss of any one takes none of them.
pub(crate) fn survives_loss(consistency: &str) -> bool {
    matches!(consistency, "quorum" | "all")
}

/// How to start one node.
pub(crate) fn launch_member(
    installation: &Installation,
    folders: &[ServerFolder],
    member: usize,
    options: &ServerOptions,
) -> Result<MemberLaunch, StoreError> {
    let wrong = |text: String| StoreError::new(ErrorKind::Configuration, OPERATION, text);
    let asked = options.cluster.as_ref().map(|cluster| &*cluster.consistency);
    let asked = asked.unwrap_or_default();
    if !LEVELS.iter().any(|level| level.name == asked) {
        let names = LEVELS.map(|level| level.name).join(", ");
        let text = format!("there is no consistency level {asked:?}; there are {names}");
        return Err(wrong(text));
    }
    let place = Place { member, members: folders.len() };
    let folder = folders
        .get(member)
        .filter(|_| place.members == COPIES)
        .ok_or_else(|| wrong(format!("a cluster of Cassandra has {COPIES} nodes here")))?;
    let jmx = management_port(folder, place);
    let further = format!("datacenter={DATACENTER}&replication={COPIES}&consistency={asked}&jmx={jmx}");
    Ok(MemberLaunch {
        launch: launch_one(
            (&super::find_java()?, installation),
            folder,
            options,
            (place, CONFIGURATION, &further),
        )?,
        rejoin: None,
        recover: Vec::new(),
    })
}

/// Gives accounts as many copies as readings, and waits until each node sees all others.
pub(crate) async fn form_cluster(members: &[Endpoint]) -> Result<Endpoint, StoreError> {
    let all = members.iter().map(|one| Options::parse(one.url.expose()));
    let all = all.collect::<Result<Vec<Options>, StoreError>>()?;
    let Some((first, endpoint)) = all.first().zip(members.first()) else {
        let text = "there are no nodes";
        return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text));
    };
    copy_accounts(first, all.len()).await?;
    for options in &all {
        let link = Link::open_alone(options, PATIENCE).await?;
        sees_all(&link).await;
    }
    let list = |texts: Vec<String>| texts.join(",");
    let hosts = list(all.iter().flat_map(Options::nodes).collect());
    let jmx = list(all.iter().flat_map(|one| &one.jmx).map(u16::to_string).collect());
    let url = endpoint.url.expose();
    let (before, _) = url.rsplit_once("jmx=").unwrap_or((url, ""));
    let before = before.replacen(&list(first.nodes()), &hosts, 1);
    let port = endpoint.ports.first().copied().unwrap_or_default();
    Ok(own_server("cassandra", format!("{before}jmx={jmx}"), port))
}

/// A cluster's accounts have one copy as Cassandra comes. Reading all copies of them repairs those that lack any.
/// <https://cassandra.apache.org/doc/latest/cassandra/managing/operating/security.html>
async fn copy_accounts(first: &Options, nodes: usize) -> Result<(), StoreError> {
    const CLASS: &[u8] = b"NetworkTopologyStrategy";
    let link = Link::open(first, PATIENCE).await?;
    let text = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'system_auth'";
    let mut are_copied = false;
    decode::each(&[link.rows(OPERATION, text).await?], |row| {
        let replication = decode::optional(row)?.unwrap_or_default();
        are_copied |= replication.windows(CLASS.len()).any(|part| part == CLASS);
        Ok(())
    })?;
    if are_copied {
        return Ok(());
    }
    let text = format!(
        "ALTER KEYSPACE system_auth WITH replication = {{'class': 'NetworkTopologyStrategy', '{DATACENTER}': {nodes}}}"
    );
    run_once_normal(&link, &text).await?;
    sees_all(&link).await;
    Ok(())
}

/// Runs a statement that the database refuses until each node's state is normal. The supervisor ends what takes too long.
async fn run_once_normal(link: &Link, text: &str) -> Result<(), StoreError> {
    loop {
        match link.run(OPERATION, text).await {
            Err(error) if is_of_a_joining_node(&error) => tokio::time::sleep(POLL).await,
            other => return other.map(drop),
        }
    }
}

/// Whether a statement was refused because a node, which serves already, is not yet known to the others as normal.
fn is_of_a_joining_node(error: &StoreError) -> bool {
    error.to_string().contains("not in normal state")
}

/// Waits until all copies of the accounts answer through this connection. The supervisor ends what takes too long.
async fn sees_all(link: &Link) {
    for table in ["roles", "role_members", "role_permissions"] {
        let text = format!("SELECT * FROM system_auth.{table}");
        loop {
            let asked = link.run_at(OPERATION, &text, Replicas::All);
            if let Ok(Ok(_)) = tokio::time::timeout(ANSWER, asked).await {
                break;
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_still_joins_is_waited_for() {
        let refused = |text: &str| StoreError::new(ErrorKind::Configuration, OPERATION, text);
        let joining = "Cannot alter RF while some endpoints are not in normal state (no range movements): [/127.0.0.3:23044]";
        assert!(is_of_a_joining_node(&refused(joining)));
        assert!(!is_of_a_joining_node(&refused("unknown keyspace")));
    }

    #[test]
    fn each_level_is_an_option_that_users_may_write() {
        for level in clusters().consistencies {
            let url = format!("cassandra://a,b,c/?replication=3&consistency={}", level.name);
            assert!(Options::parse(&url).unwrap().consistency.is_some());
            assert_eq!(survives_loss(level.name), level.name != "one");
        }
        assert!(!survives_loss("causal"));
    }
}
