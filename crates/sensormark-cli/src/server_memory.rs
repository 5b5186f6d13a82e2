//! Memory of each server for caches and heaps: who says how much, and whether there is so much.

use crate::arguments::Size;
use crate::failure::Failure;
use sensormark_engine::memory_limit::available_bytes;
use sensormark_engine::selection::Choice;
use sensormark_result::probe::Limits;

/// Where nobody says.
const USUAL_BYTES: u64 = 1 << 30;

/// Memory of each server for caches and heaps.
pub struct ServerMemory {
    /// How much.
    pub bytes: u64,
    /// Who says so, and what to do where that is wrong; none where nobody says.
    said: Option<(String, &'static str)>,
}

impl ServerMemory {
    /// What the option says, or else the workload file of this name.
    pub fn new(option: Option<Size>, file: Option<(&str, u64)>, limit: Option<Size>) -> Self {
        let (bytes, said) = match (option, file) {
            (Some(size), _) => (size.0, Some(("--server-memory".to_owned(), "give less"))),
            (None, Some((name, bytes))) => {
                let said = format!("server_memory in {name}");
                let instead = "write less there, or give --server-memory";
                (bytes, Some((said, instead)))
            }
            // A quarter of a limit that the usual memory does not fit into, as PostgreSQL advises for a machine of its own.
            (None, None) => {
                let small = limit.filter(|limit| limit.0 < 2 * USUAL_BYTES);
                (small.map_or(USUAL_BYTES, |limit| limit.0 / 4), None)
            }
        };
        Self { bytes, said }
    }

    /// Refuses more than this machine has. A database by URL has its own.
    ///
    /// # Errors
    /// Who asks for it, how much there is, and what to do.
    pub fn check(&self, choices: &[&Choice]) -> Result<(), Failure> {
        let available = available_bytes(Limits::of_this_process().cgroup_memory_bytes);
        let is_here = choices.iter().any(|choice| choice.url.is_none());
        match &self.said {
            Some((said, instead)) if is_here && self.bytes > available => Err(Failure::usage(format!(
                "{said} asks for {} MiB, and there are {} MiB of memory here; {instead}",
                self.bytes >> 20,
                available >> 20
            ))),
            _ => Ok(()),
        }
    }
}
