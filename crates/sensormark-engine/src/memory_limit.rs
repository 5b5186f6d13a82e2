//! `--memory-limit`: whether all databases of a run can be held to one limit of memory, processes and page cache together.
//!
//! All or none: a database without a limit among limited ones would have the whole machine's page cache to itself. How a server
//! is held to it is the supervisor's.

use crate::selection::Choice;
use sensormark_server::check_memory_limit;
use sensormark_store::server::machine_memory_bytes;
use sensormark_store::{ErrorKind, ServerOptions, StoreError};

const OPERATION: &str = "hold databases to --memory-limit";

/// Whether these databases can be held to a memory limit; without one they always can.
///
/// # Errors
/// What cannot, why, and what to do. The causes are:
///
/// - a database that sensormark does not start, or an embedded one;
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
    if choice.store.description().embedded {
        let text = format!(
            "{title} runs inside the client, which a limit would hold too. Without a limit it alone would have the page cache of the whole machine. Leave {title} out of --on, or leave out the option"
        );
        return Err(StoreError::unsupported(OPERATION, text));
    }
    if choice.url.is_some() {
        let text = format!(
            "{title} is given by URL, and sensormark limits no server that it did not start; leave out the URL, or the option"
        );
        return Err(StoreError::unsupported(OPERATION, text));
    }
    let members = choice.cluster.as_ref().map_or(1, |cluster| cluster.members);
    // Members share memory and limit in equal parts, and each of them needs what a server needs.
    let own = ServerOptions { cluster: choice.cluster.clone(), ..options.clone() };
    let least = own.of_one_member().least_memory_limit_bytes();
    let least = least.saturating_mul(u64::from(members));
    if limit < least {
        let text = format!(
            "{} MB is too small beside --server-memory {}. A server needs one and a half times that and 512 MB, each member of a cluster of its part. Give at least {} MB, or less --server-memory",
            limit >> 20,
            options.memory_bytes >> 20,
            least >> 20
        );
        return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_conformance::memory::MemoryStore;
    use sensormark_store::store::RepeatedWrite;
    use std::sync::Arc;

    #[test]
    fn an_embedded_database_is_refused_only_with_a_limit() {
        let choice = Choice::of(Arc::new(MemoryStore::new(RepeatedWrite::Replaces)));
        let mut options = ServerOptions::default();
        assert!(check_choice(&choice, &options).is_ok());
        options.memory_limit_bytes = Some(4 << 30);
        let refused = check_choice(&choice, &options).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("inside the client"), "{refused}");
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
