//! `--memory-limit`: whether all databases of a run can be held to one limit of memory, processes and page cache together.
//!
//! All or none: a database without a limit among limited ones would have the whole machine's page cache to itself. How a server
//! is held to it is the supervisor's.

use crate::selection::Choice;
use sensormark_server::check_memory_limit;
use sensormark_store::server::machine_memory_bytes;
use sensormark_store::{ErrorKind, ServerOptions, Store, StoreError};

const OPERATION: &str = "hold databases to --memory-limit or --in-proportion";

/// What a server on Java needs beside one and a half times its memory, in bytes. Java itself takes 200 to 300 MiB. Cassandra's direct memory is half its heap
/// (<https://cassandra.apache.org/doc/latest/cassandra/managing/configuration/cass_jvm_options_file.html>).
const BESIDE_JAVA: u64 = 512 << 20;
/// What another server needs: MariaDB takes about 100 MiB, and each connection of PostgreSQL and MariaDB some MiB
/// (<https://mariadb.com/kb/en/mariadb-memory-allocation/>). Something must be left as page cache.
const BESIDE: u64 = 256 << 20;
/// What an embedded database needs with its client: a cache of up to 256 MiB, and as much as a half of that besides.
const EMBEDDED: u64 = 384 << 20;

/// Whether these databases can be held to a memory limit; without one they always can.
///
/// # Errors
/// What cannot, why, and what to do. The causes are:
///
/// - a database that sensormark does not start;
/// - a limit that is too small for `--server-memory`, or larger than what there is (`available_bytes`);
/// - a machine where no control group can be made.
pub fn check(options: &ServerOptions, choices: &[&Choice], available_bytes: u64) -> Result<(), StoreError> {
    let Some(limit) = options.memory_limit_bytes else {
        return Ok(());
    };
    for choice in choices {
        check_choice(choice, options)?;
    }
    if limit > available_bytes {
        return Err(StoreError::new(
            ErrorKind::Configuration,
            OPERATION,
            format!(
                "{} MB would limit nothing: this program may use {} MB of memory; give less",
                limit >> 20,
                available_bytes >> 20
            ),
        ));
    }
    check_memory_limit()
}

/// The memory that this program may use, in bytes: the machine's, or its own control group's where that has less.
pub fn available_bytes(group: Option<u64>) -> u64 {
    let machine = machine_memory_bytes();
    group.map_or(machine, |group| group.min(machine))
}

/// Whether one database can be held to the memory limit.
///
/// # Errors
/// Why not, and what to do.
pub fn check_choice(choice: &Choice, options: &ServerOptions) -> Result<(), StoreError> {
    let Some(limit) = options.memory_limit_bytes else {
        return Ok(());
    };
    let title = choice.title();
    if choice.url.is_some() {
        let text = format!(
            "{title} is given by URL, and sensormark limits no server that it did not start; leave out the URL, or the option"
        );
        return Err(StoreError::unsupported(OPERATION, text));
    }
    let (least, why) = least(choice.store.as_ref(), options);
    if limit < least {
        let text = format!(
            "{title} cannot run in {} MB, which are too small beside --server-memory {}: {why}. Give at least {} MB, less --server-memory, or leave {title} out of --on",
            limit >> 20,
            options.memory_bytes >> 20,
            least >> 20
        );
        return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text));
    }
    Ok(())
}

/// The smallest limit of one server, in bytes, and what it is made of, in words.
fn least(store: &dyn Store, own: &ServerOptions) -> (u64, String) {
    if store.description().embedded {
        return (
            EMBEDDED,
            "an embedded database has its cache in the client, which needs room too".to_owned(),
        );
    }
    let (beside, kind) = if store.runs_on_java() { (BESIDE_JAVA, " on Java") } else { (BESIDE, "") };
    let why = format!("a server{kind} needs one and a half times that and {} MB", beside >> 20);
    (own.least_memory_limit_bytes(beside), why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_conformance::memory::MemoryStore;
    use sensormark_store::store::RepeatedWrite;
    use std::sync::Arc;

    /// On half a gigabyte an embedded database runs, with its client.
    #[test]
    fn an_embedded_database_needs_room_for_its_client() {
        let choice = Choice::of(Arc::new(MemoryStore::new(RepeatedWrite::Replaces)));
        let limited = |bytes| ServerOptions { memory_limit_bytes: Some(bytes), ..ServerOptions::default() };
        assert!(check_choice(&choice, &ServerOptions::default()).is_ok());
        assert!(check_choice(&choice, &limited(512_000_000)).is_ok());
        let refused = check_choice(&choice, &limited(256 << 20)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Configuration);
        assert!(refused.to_string().contains("at least 384 MB"), "{refused}");
    }

    #[test]
    fn a_limit_above_what_there_is_limits_nothing() {
        let options = ServerOptions { memory_limit_bytes: Some(4 << 30), ..ServerOptions::default() };
        let refused = check(&options, &[], 3 << 30).unwrap_err();
        assert!(refused.to_string().contains("3072 MB"), "{refused}");
        assert!(available_bytes(None) > 0);
        assert_eq!(available_bytes(Some(4096)), 4096);
    }
}
