//! Processors that a server is held to.

use crate::support::{Behaviour, TestStore, reachable_folder};
use sensormark_server::Supervisor;
use sensormark_store::ServerOptions;

#[test]
fn a_server_is_held_to_its_processors() {
    let home = reachable_folder();
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    };
    let digit = |character: char| character.is_ascii_digit();
    let mine = list(&own);
    let last = mine.rsplit(|character| !digit(character)).next().unwrap();
    let options = ServerOptions { processors: Some(last.to_owned()), ..ServerOptions::default() };
    let store = TestStore::new(Behaviour::Normal);
    let server =
        Supervisor::new(Some(home.path().to_owned())).unwrap().start(&store, &options, None).unwrap();
    let status = format!("/proc/{}/status", server.process_id());
    assert_eq!(list(&std::fs::read_to_string(status).unwrap()), last);
}
