//! The members of a replica set: what each is, and how all of them are brought to rest.
//!
//! It asks through the client of a database's administrator, and changes nothing.

use crate::connection::Link;
use crate::topology::Topology;
use mongodb::bson::{Bson, Document, Timestamp, doc};
use sensormark_store::{ErrorKind, StoreError};
use std::time::{Duration, Instant};

const OPERATION: &str = "write a checkpoint";

/// How often members are asked how far they are.
const POLL: Duration = Duration::from_millis(50);

/// A member, as another sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Host and port, as the set's configuration has them.
    pub(crate) address: String,
    /// What it is, in the server's word: `PRIMARY`, `SECONDARY`.
    pub(crate) state: String,
    /// The last write that it has.
    reached: Timestamp,
}

impl Member {
    /// Whether it has data and serves.
    pub(crate) fn serves(&self) -> bool {
        self.is_primary() || self.state == "SECONDARY"
    }

    /// Whether writes go to it.
    pub(crate) fn is_primary(&self) -> bool {
        self.state == "PRIMARY"
    }
}

/// All members of the set.
///
/// # Errors
/// When the server cannot be asked, is no member, or the user may not know.
pub(crate) async fn members(link: &Link, operation: &str) -> Result<Vec<Member>, StoreError> {
    let status = doc! { "replSetGetStatus": 1 };
    let status = link.command_of("admin", operation, status).await?;
    let listed = status.get_array("members").into_iter().flatten();
    Ok(listed.filter_map(Bson::as_document).map(member).collect())
}

fn member(entry: &Document) -> Member {
    let text = |name| entry.get_str(name).unwrap_or_default().to_owned();
    let reached = entry.get_document("optime");
    let reached = reached.and_then(|reached| reached.get_timestamp("ts"));
    Member {
        address: text("name"),
        state: text("stateStr"),
        reached: reached.unwrap_or(Timestamp { time: 0, increment: 0 }),
    }
}

/// Waits until every member that serves has what the primary has now, and has each write a checkpoint. A server that is no member does so alone.
///
/// # Errors
/// When a member does not get there in time, or refuses.
pub(crate) async fn settle(link: &Link, topology: Topology, patience: Duration) -> Result<(), StoreError> {
    let fsync = doc! { "fsync": 1 };
    let all = match topology {
        Topology::Replicated => members(link, OPERATION).await.unwrap_or_default(),
        _ => Vec::new(),
    };
    let serving: Vec<&Member> = all.iter().filter(|member| member.serves()).collect();
    if serving.len() < 2 {
        // A user's set may refuse to tell its members; its primary is settled all the same.
        let done = link.command_of("admin", OPERATION, fsync).await;
        return done.map(drop);
    }
    wait_for(link, &all, patience).await?;
    for member in serving {
        let done = link.command_at(&member.address, OPERATION, fsync.clone());
        done.await?;
    }
    Ok(())
}

/// Waits until all that serve have the primary's last write of `before`.
async fn wait_for(link: &Link, before: &[Member], patience: Duration) -> Result<(), StoreError> {
    let Some(goal) = before.iter().find(|member| member.is_primary()) else {
        return Ok(());
    };
    let deadline = Instant::now() + patience;
    loop {
        let now = members(link, OPERATION).await?;
        let late = now.iter().find(|member| member.serves() && member.reached < goal.reached);
        let Some(late) = late else {
            return Ok(());
        };
        if Instant::now() > deadline {
            let text = format!(
                "a member ({}) still lacks writes of the primary after {} s; look into its log",
                late.state,
                patience.as_secs()
            );
            return Err(StoreError::new(ErrorKind::Timeout, OPERATION, text));
        }
        tokio::time::sleep(POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_says_what_it_is_and_how_far_it_came() {
        let reached = Timestamp { time: 5, increment: 2 };
        let entry = doc! { "name": "127.0.0.2:4711", "stateStr": "SECONDARY", "optime": { "ts": reached } };
        let told = member(&entry);
        assert!(told.serves() && !told.is_primary(), "{told:?}");
        assert_eq!((told.address.as_str(), told.reached), ("127.0.0.2:4711", reached));
        let gone = member(&doc! { "name": "h:1", "stateStr": "(not reachable/healthy)" });
        assert!(!gone.serves(), "{gone:?}");
    }
}
