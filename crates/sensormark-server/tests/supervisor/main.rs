//! The supervisor with real processes: this program, started again as a small server or as a coordinator.
//!
//! No database is needed. As root the servers run as `nobody`, as in earnest.

mod life;
mod memory_limit;
mod orphans;
mod processors;
mod set_up;
mod support;

/// What the other tests start: a server, a helper command, or a coordinator.
#[test]
#[ignore = "not a test: the other tests start this program with it, as their server"]
fn role() {
    match std::env::var(support::ROLE).as_deref() {
        Ok("coordinator") => orphans::coordinate(),
        Ok(role) => support::play(role),
        Err(_) => {}
    }
}
