//! A start on loopback in which a server's first account is made, before the server listens where others reach it.

use crate::life::{failing_start, supervisor};
use crate::support::{Behaviour, TestStore, names_in, processes_with, reachable_folder};
use sensormark_store::{ErrorKind, ServerOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);

fn store(set_up: Behaviour) -> TestStore {
    let mut store = TestStore::new(Behaviour::Normal);
    store.set_up = Some(set_up);
    store
}

/// The hosts that the version was asked of, each once in a row.
fn asked(store: &TestStore) -> Vec<String> {
    let urls = store.asked.lock().unwrap();
    let host = |url: &String| url.rsplit(['@', ':']).nth(1).unwrap().to_owned();
    let mut hosts: Vec<String> = urls.iter().map(host).collect();
    hosts.dedup();
    hosts
}

#[test]
fn the_first_account_is_made_where_nobody_else_comes_in() {
    let home = reachable_folder();
    let store = store(Behaviour::Normal);
    let options = ServerOptions { address: Some(ADDRESS), ..ServerOptions::default() };
    let server = supervisor(home.path()).start(&store, &options, None).unwrap();
    assert!(server.data_folder().join("account").exists());
    assert_eq!(asked(&store), ["127.0.0.1", "127.0.0.9"]);
    // The first one is gone, and its port is free.
    let port = server.folder().ports[0];
    assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    assert!(TcpListener::bind((ADDRESS, port)).is_err());
    let marker = format!("SENSORMARK_RUN={}", server.run());
    assert_eq!(processes_with(&marker), [server.process_id()]);
    assert!(server.prepare_duration() > Duration::ZERO);
    // A restart needs no account.
    store.asked.lock().unwrap().clear();
    server.restart(&store).unwrap();
    assert_eq!(asked(&store), ["127.0.0.9"]);
    drop(server);
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn an_account_that_cannot_be_made_fails_the_start() {
    let store = store(Behaviour::Broken);
    let (kind, text) = failing_start(&store, None);
    assert_eq!(kind, ErrorKind::Crashed, "{text}");
    // The server itself, which would have answered, was not started.
    assert!(asked(&store).len() < 2, "{:?}", asked(&store));
}
