//! Makes a server of our own ready when it is first asked for its version, because no shell of MongoDB's comes with the server. Its first user is made by the
//! localhost exception; where its URL names a replica set, it becomes one of one member.

use super::error::fault;
use super::url::Options;
use crate::Fault;
use mongodb::bson::{Document, doc};
use mongodb::error::ErrorKind as Native;
use sensormark_store::{ErrorKind, StoreError};
use std::time::Duration;

const OPERATION: &str = "set up the MongoDB server";
/// Once there is a user, nobody may make one without being one.
const UNAUTHORIZED: i32 = 13;

/// Makes replica set and user, where they are not there yet.
pub(super) async fn prepare(options: &Options, timeout: Duration) -> Result<(), Fault> {
    let client = options.anonymous_client(timeout).await?;
    let admin = client.database("admin");
    let run = async |command: Document| {
        let done = admin.run_command(command).await;
        done.map_err(|error| fault(OPERATION, error))
    };
    let mut hello = run(doc! { "hello": 1 }).await?;
    if let Some((name, host)) = options.replica_set() {
        if hello.get_bool("isreplicaset").unwrap_or(false) {
            let set = doc! { "_id": name, "members": [{ "_id": 0, "host": host }] };
            run(doc! { "replSetInitiate": set }).await?;
            hello = run(doc! { "hello": 1 }).await?;
        }
        if !hello.get_bool("isWritablePrimary").unwrap_or(false) {
            let text = "the replica set has no primary yet; wait a moment";
            return Err(StoreError::new(ErrorKind::Unavailable, OPERATION, text).into());
        }
    }
    let credential = options.credential();
    if let Some((user, password)) =
        credential.and_then(|one| Some((one.username.as_ref()?, one.password.as_ref()?)))
    {
        let user = doc! { "createUser": user, "pwd": password, "roles": ["root"] };
        match admin.run_command(user).await {
            Err(error) if !matches!(&*error.kind, Native::Command(native) if native.code == UNAUTHORIZED) => {
                return Err(fault(OPERATION, error));
            }
            _ => {}
        }
    }
    client.shutdown().immediate(true).await;
    Ok(())
}
