//! Replica sets of our own: the consistency levels that they have, how a member is set up, and how members are joined.
//!
//! A set is made with short elections in which the first member alone may win, because it would take 11 s else. Then the election time-out and the priorities
//! become MongoDB's own, so that the loss of a member is answered as by a set that a user made.

use super::{REPLICA_SET, USER, is_replicated, launch_one, make_user};
use crate::config::Options;
use crate::connection::Link;
use crate::members::{Member, members as members_of};
use mongodb::bson::{Bson, Document, doc};
use sensormark_kit::url::own_server;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Clusters, Consistency, Durability, Endpoint, ErrorKind, Installation, Leadership, MemberLaunch,
    ServerOptions, StoreError,
};
use std::time::Duration;

const OPERATION: &str = "join the members to a replica set";

/// How long the members wait for a primary that does not answer before they elect another, as MongoDB comes, in ms.
/// <https://www.mongodb.com/docs/manual/reference/replica-configuration/>
const ELECTION_TIMEOUT_MS: i32 = 10_000;
/// The same while a set is made.
const FIRST_ELECTION_MS: i32 = 500;

/// How often members are asked what they are.
const POLL: Duration = Duration::from_millis(50);
/// How long one command may take; a new member is copied meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// A consistency level, and the options of the URL that give it.
struct Level {
    stated: Consistency,
    options: &'static str,
}

const LEVELS: [Level; 3] = [
    Level {
        stated: Consistency {
            name: "majority",
            promise: "w: majority, read concern majority: a write is acknowledged when most members have it, and reads at the primary see only such writes",
            link: "https://www.mongodb.com/docs/manual/reference/read-concern-majority/",
            relaxed: true,
        },
        options: "&w=majority&readConcernLevel=majority",
    },
    Level {
        stated: Consistency {
            name: "linearizable",
            promise: "w: majority, read concern linearizable: each read at the primary also waits until most members confirm that it is the primary",
            link: "https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/",
            relaxed: true,
        },
        options: "&w=majority&readConcernLevel=linearizable",
    },
    Level {
        stated: Consistency {
            name: "local",
            promise: "w: 1, read concern local: the primary alone acknowledges a write, so the others roll it back if the primary is lost before they have it",
            link: "https://www.mongodb.com/docs/manual/reference/read-concern-local/",
            relaxed: true,
        },
        options: "&w=1&readConcernLevel=local",
    },
];

/// Whether most members have a write that was acknowledged at this level.
pub(crate) fn survives_loss(consistency: &str) -> bool {
    let mut levels = LEVELS.iter();
    levels.any(|level| level.stated.name == consistency && level.options.contains("w=majority"))
}

/// What sensormark can start.
pub(crate) fn clusters() -> Clusters {
    Clusters {
        members: 3..=7,
        consistencies: LEVELS.iter().map(|level| level.stated).collect(),
        leadership: Leadership::Elected,
    }
}

/// The options of the URL for the level that was asked for.
fn level(options: &ServerOptions) -> Result<&'static Level, StoreError> {
    let asked = options.cluster.as_ref().map(|cluster| &*cluster.consistency);
    let found = LEVELS.iter().find(|level| Some(level.stated.name) == asked);
    found.ok_or_else(|| {
        let names = LEVELS.each_ref().map(|level| level.stated.name).join(", ");
        let asked = asked.unwrap_or_default();
        let text = format!("there is no consistency level {asked:?}; there are {names}");
        StoreError::new(ErrorKind::Configuration, OPERATION, text)
    })
}

/// Sets up one member in its folder.
pub(crate) fn launch_member(
    installation: &Installation,
    folders: &[ServerFolder],
    member: usize,
    options: &ServerOptions,
) -> Result<MemberLaunch, StoreError> {
    is_replicated(options)?;
    level(options)?;
    if options.durability == Durability::Unacknowledged {
        return Err(StoreError::unsupported(
            OPERATION,
            "unacknowledged writes go to a single server; choose another durability class for a cluster",
        ));
    }
    let folder = folders.get(member).ok_or_else(|| {
        let text = format!("there is no folder for member {}", member + 1);
        StoreError::new(ErrorKind::NotFound, OPERATION, text)
    })?;
    let mut launch = launch_one(installation, folder, options, (true, "&directConnection=true"))?;
    launch.notes.push(format!(
        "a replica set of {} members, each with an operation log of 990 MB; when the primary is lost, the others wait {} s before they elect another, as MongoDB comes",
        folders.len(),
        ELECTION_TIMEOUT_MS / 1_000
    ));
    Ok(MemberLaunch { launch, rejoin: None, recover: Vec::new() })
}

/// Makes the set of the members and its first user where that was not done yet, and waits until all members serve and one is the primary.
pub(crate) async fn form_cluster(
    members: &[Endpoint],
    options: &ServerOptions,
) -> Result<Endpoint, StoreError> {
    let all = members.iter().map(|one| Options::parse(one.url.expose()));
    let all = all.collect::<Result<Vec<Options>, StoreError>>()?;
    let Some(first) = all.first() else {
        return Err(StoreError::new(ErrorKind::Configuration, OPERATION, "there are no members"));
    };
    let hosts: Vec<String> = all.iter().map(Options::hosts).collect();
    loop {
        match made_and_served(first, &hosts, options.durability).await {
            // A primary that was lost takes back on its return what the others never had, and closes its connections for that. The supervisor ends what
            // takes too long.
            Err(error) if error.kind() == ErrorKind::Unavailable => tokio::time::sleep(POLL).await,
            done => break done?,
        }
    }
    joined(members, &hosts, first, options)
}

async fn made_and_served(
    first: &Options,
    hosts: &[String],
    durability: Durability,
) -> Result<(), StoreError> {
    let link = Link::of(first.anonymous_client(PATIENCE).await?, "admin", PATIENCE);
    let made = make(&link, first, hosts, durability).await;
    link.close().await?;
    made?;
    let link = Link::open(first, "admin", PATIENCE).await?;
    let served = serve(&link, hosts.len()).await;
    link.close().await?;
    served
}

/// The endpoint of the whole set.
fn joined(
    members: &[Endpoint],
    hosts: &[String],
    first: &Options,
    options: &ServerOptions,
) -> Result<Endpoint, StoreError> {
    let password = first.credential().and_then(|one| one.password.as_deref());
    let url = format!(
        "mongodb://{USER}:{}@{}/?authSource=admin&replicaSet={REPLICA_SET}{}",
        password.unwrap_or_default(),
        hosts.join(","),
        level(options)?.options
    );
    let port = members.first().and_then(|one| one.ports.first().copied());
    Ok(own_server("mongodb", url, port.unwrap_or_default()))
}

/// Makes the set, unless its first member knows of one already.
async fn make(
    link: &Link,
    first: &Options,
    hosts: &[String],
    durability: Durability,
) -> Result<(), StoreError> {
    let hello = link.command(OPERATION, doc! { "hello": 1 }).await?;
    if !hello.get_bool("isreplicaset").unwrap_or(false) {
        return Ok(());
    }
    let set = configuration(hosts, durability);
    link.command(OPERATION, doc! { "replSetInitiate": set }).await?;
    loop {
        let hello = link.command(OPERATION, doc! { "hello": 1 }).await?;
        if hello.get_bool("isWritablePrimary").unwrap_or(false) {
            break;
        }
        tokio::time::sleep(POLL).await;
    }
    make_user(link, first).await
}

/// The configuration of a set in which the first member alone may become the primary, and soon.
fn configuration(hosts: &[String], durability: Durability) -> Document {
    let member = |(place, host): (usize, &String)| {
        let place = i32::try_from(place).unwrap_or(i32::MAX);
        Bson::from(doc! { "_id": place, "host": host, "priority": i32::from(place == 0) })
    };
    let members: Vec<Bson> = hosts.iter().enumerate().map(member).collect();
    doc! {
        "_id": REPLICA_SET,
        "members": members,
        // A majority has a write on disk, or in memory where that is what was asked for.
        "writeConcernMajorityJournalDefault": durability != Durability::Relaxed,
        "settings": { "electionTimeoutMillis": FIRST_ELECTION_MS },
    }
}

/// Waits until all members serve and there is a primary. Then elections become as MongoDB has them.
async fn serve(link: &Link, count: usize) -> Result<(), StoreError> {
    loop {
        // A member that has just started may not answer yet; the supervisor ends what takes too long.
        let all = members_of(link, OPERATION).await.unwrap_or_default();
        let serving = all.iter().filter(|member| member.serves()).count();
        // Members that were started again elect one by themselves: a push would make an outage look shorter than it is.
        let are_led = serving == count && all.iter().any(Member::is_primary);
        if are_led && is_as_it_comes(link).await? {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Whether elections are as MongoDB has them; if not, they are made so.
async fn is_as_it_comes(link: &Link) -> Result<bool, StoreError> {
    let answer = link.command(OPERATION, doc! { "replSetGetConfig": 1 }).await?;
    let Ok(config) = answer.get_document("config") else {
        return Err(crate::connection::unreadable(OPERATION, "it has no configuration"));
    };
    let settings = config.get_document("settings").cloned().unwrap_or_default();
    let timeout = match settings.get("electionTimeoutMillis") {
        Some(Bson::Int32(ms)) => i64::from(*ms),
        Some(Bson::Int64(ms)) => *ms,
        _ => 0,
    };
    if timeout == i64::from(ELECTION_TIMEOUT_MS) {
        return Ok(true);
    }
    let (mut config, mut settings) = (config.clone(), settings);
    settings.insert("electionTimeoutMillis", ELECTION_TIMEOUT_MS);
    config.insert("settings", settings);
    config.insert("version", config.get_i32("version").unwrap_or(1) + 1);
    if let Ok(members) = config.get_array_mut("members") {
        for member in members.iter_mut().filter_map(Bson::as_document_mut) {
            member.insert("priority", 1);
        }
    }
    // Refused while the members have not all heard of the configuration before, and then asked again.
    let change = doc! { "replSetReconfig": config };
    link.command(OPERATION, change).await.ok();
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Cluster;

    fn options(consistency: &str) -> ServerOptions {
        ServerOptions {
            cluster: Some(Cluster { members: 3, consistency: consistency.to_owned() }),
            ..ServerOptions::default()
        }
    }

    #[test]
    fn each_level_is_a_url_that_users_may_write() {
        for stated in clusters().consistencies {
            let level = level(&options(stated.name)).unwrap();
            let url = format!("mongodb://u:p@a,b,c/?replicaSet=sm{}", level.options);
            Options::parse(&url).unwrap();
            assert_eq!(survives_loss(stated.name), stated.name != "local");
        }
        let error = level(&options("quorum")).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("linearizable"), "{error}");
    }

    #[test]
    fn a_new_set_elects_its_first_member_alone() {
        let hosts = ["127.0.0.1:1".to_owned(), "127.0.0.2:1".to_owned()];
        let set = configuration(&hosts, Durability::Relaxed);
        let priorities: Vec<i32> = set
            .get_array("members")
            .unwrap()
            .iter()
            .map(|member| member.as_document().unwrap().get_i32("priority").unwrap())
            .collect();
        assert_eq!(priorities, [1, 0]);
        let journal = set.get_bool("writeConcernMajorityJournalDefault");
        assert!(!journal.unwrap());
    }
}
