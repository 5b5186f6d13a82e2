//! What members are set up with, and which of them starts first.

use super::*;
use sensormark_store::{Cluster, Secret, Store};
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;

const CLUSTER: &str = "f220fd97-e7c0-11f1-b42a-bade86a225e2";

fn folder(root: &Path, member: u8) -> ServerFolder {
    let root = root.join(member.to_string());
    let data = root.join("data");
    fs::create_dir_all(&data).unwrap();
    ServerFolder {
        root,
        data,
        logs: None,
        address: Ipv4Addr::new(127, 0, 0, member),
        ports: [3, 4, 5, 6, 7],
        password: Secret::new("hunter2"),
        user: None,
    }
}

fn folders(root: &Path) -> Vec<ServerFolder> {
    (1..=3).map(|member| folder(root, member)).collect()
}

fn leave(folder: &ServerFolder, position: &str) {
    let log = format!(
        "[Note] WSREP: Recovered position: {CLUSTER}:1\n2026 0 [Note] WSREP: Recovered position: {position}\n"
    );
    fs::write(folder.join(RECOVERED), log).unwrap();
    let state = format!("uuid:    {CLUSTER}\nseqno:   -1\nsafe_to_bootstrap: 0\n");
    fs::write(folder.data.join("grastate.dat"), state).unwrap();
}

fn started(folder: &ServerFolder) -> String {
    fs::read_to_string(folder.join(START)).unwrap()
}

#[test]
fn the_member_whose_data_goes_farthest_makes_the_cluster_again() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    for (folder, number) in folders.iter().zip([98, 100, 100]) {
        leave(folder, &format!("{CLUSTER}:{number}"));
    }
    assert_eq!(start_again(&folders, &[0, 1, 2]).unwrap(), [1, 0, 2]);
    assert!(started(&folders[1]).contains("wsrep_new_cluster=1"));
    let state = fs::read_to_string(folders[1].data.join("grastate.dat")).unwrap();
    assert!(state.contains("safe_to_bootstrap: 1") && state.contains("seqno:   -1"));
    for (member, number) in [(0, 98), (2, 100)] {
        let text = format!("[mariadbd]\nwsrep_start_position={CLUSTER}:{number}\n");
        assert_eq!(started(&folders[member]), text);
        let state = fs::read_to_string(folders[member].data.join("grastate.dat")).unwrap();
        assert!(state.contains("safe_to_bootstrap: 0"));
    }
}

#[test]
fn a_member_that_was_lost_alone_never_makes_a_cluster() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    leave(&folders[0], &format!("{CLUSTER}:100"));
    assert_eq!(start_again(&folders, &[0]).unwrap(), [0]);
    let text = format!("[mariadbd]\nwsrep_start_position={CLUSTER}:100\n");
    assert_eq!(started(&folders[0]), text);
    // Without data it gets all of it.
    leave(&folders[0], "00000000-0000-0000-0000-000000000000:-1");
    start_again(&folders, &[0]).unwrap();
    assert_eq!(started(&folders[0]), "[mariadbd]\n");
}

#[test]
fn without_any_position_nothing_is_started() {
    let root = tempfile::tempdir().unwrap();
    let error = start_again(&folders(root.path()), &[0, 1, 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Crashed);
}

#[test]
fn members_speak_on_loopback_and_keep_their_password_to_themselves() {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().join("usr");
    for (place, file) in [
        ("lib/galera", "libgalera_smm.so"),
        ("bin", "mariadb-install-db"),
        ("bin", "wsrep_sst_rsync"),
        ("bin", "rsync"),
        ("bin", "lsof"),
    ] {
        fs::create_dir_all(base.join(place)).unwrap();
        fs::write(base.join(place).join(file), "").unwrap();
    }
    let installation =
        Installation { path: base.join("sbin/mariadbd"), version: "10.11".to_owned(), origin: String::new() };
    let options = ServerOptions {
        memory_bytes: 256 << 20,
        cluster: Some(Cluster { members: 3, consistency: "causal".to_owned() }),
        ..ServerOptions::default()
    };
    let folders = folders(root.path());
    let first = launch_member(&installation, &folders, 0, &options).unwrap();
    let second = launch_member(&installation, &folders, 1, &options).unwrap();
    let commands = [&first, &second].map(|one| format!("{one:?}"));
    assert!(!commands.concat().contains("hunter2"));
    assert_eq!((first.launch.before.len(), second.launch.before.len()), (1, 0));
    assert!(started(&folders[0]).contains("wsrep_new_cluster=1"));
    assert_eq!(started(&folders[1]), "");
    let configuration = fs::read_to_string(folders[1].join("my.cnf")).unwrap();
    for line in [
        "innodb_buffer_pool_size=224M\n",
        "bind-address=127.0.0.2\n",
        "wsrep_cluster_address=gcomm://127.0.0.1:4,127.0.0.2:4,127.0.0.3:4\n",
        "wsrep_sst_receive_address=127.0.0.2:6\n",
        "wsrep_sst_donor=member_3,member_1,\n",
        "gmcast.listen_addr=tcp://127.0.0.2:4;ist.recv_addr=127.0.0.2:5;gcache.size=33554432;",
    ] {
        assert!(configuration.contains(line), "{line}: {configuration}");
    }
    assert!(configuration.contains("wsrep_cluster_name=hunter2\n"));
    let file = fs::metadata(folders[1].join("my.cnf")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let endpoints = [first.launch.endpoint, second.launch.endpoint];
    let whole = url(&endpoints, level(&options).unwrap());
    let whole = Options::parse(&whole).unwrap();
    assert_eq!(whole.name(), "127.0.0.1:3,127.0.0.2:3");
    assert_eq!(whole.sync_wait, Some(1));
}

/// What a drill holds MariaDB to: every level has each commit on every member, and nothing else does.
#[test]
fn every_level_survives_the_loss_of_a_member() {
    let store = crate::Mariadb::new();
    for level in &LEVELS {
        assert!(store.survives_loss(level.described.name));
    }
    assert!(!store.survives_loss("majority"));
}
