//! Clusters that sensormark starts: a small load on each, and the loss of a member in mid-load.

use crate::existing_server::Running;
use crate::support::{Place, errors, held_against, said};
#[cfg(feature = "cassandra")]
use sensormark_server::Supervisor;
#[cfg(feature = "cassandra")]
use sensormark_store::{Cluster, ServerOptions};
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A small test of single and multi operations.
const SMALL: [&str; 7] =
    ["single=60", "multi=400", "batch=50", "sensors=7", "clients=1,3", "sweep=false", "grown=0"];

fn setting<'a>(trial: &'a Value, name: &str) -> &'a str {
    let settings = trial["settings"].as_array().expect("settings");
    let found = settings.iter().find(|one| one["name"] == name);
    found.and_then(|one| one["value"].as_str()).unwrap_or("")
}

/// A copy of a running PostgreSQL that follows it and answers questions.
struct Replica {
    server: std::process::Child,
    port: u16,
}

impl Replica {
    /// The copy's server runs as the primary's user, because PostgreSQL refuses root.
    fn of(primary: &Running<'_>, folder: &std::path::Path) -> Self {
        let data = primary.sql("postgres", "SHOW data_directory");
        let owner = std::fs::metadata(data.trim()).expect("the primary's data");
        let programs = primary.sql("postgres", "SELECT setting FROM pg_config WHERE name = 'BINDIR'");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        drop(listener);
        std::fs::create_dir(folder).expect("a folder");
        std::os::unix::fs::chown(folder, Some(owner.uid()), Some(owner.gid())).expect("the folder's owner");
        let program = |name: &str| {
            let mut command = Command::new(format!("{}/{name}", programs.trim()));
            command.uid(owner.uid()).gid(owner.gid()).current_dir("/");
            command
        };
        let copy = folder.join("data");
        let url = primary.url_of("postgres");
        let copied = program("pg_basebackup")
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--dbname", &url, "--pgdata"])
            .arg(&copy)
            .output()
            .expect("pg_basebackup is there");
        assert!(copied.status.success(), "{}", errors(&copied));
        let log = std::fs::File::create(folder.join("log")).expect("a file");
        let server = program("postgres")
            .args([
                "-c",
                "log_statement=all",
                "-c",
                "unix_socket_directories=",
                "-p",
                &port.to_string(),
                "-D",
            ])
            .arg(&copy)
            .stderr(log)
            .spawn()
            .expect("postgres is there");
        Self { server, port }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// Questions that a replica answers find everything that was acknowledged: every answer is checked.
pub fn postgresql_by_url_asks_its_replica_and_waits_for_it() {
    let (home, place) = (Place::new(), Place::new());
    let primary = Running::start(&home);
    let folder = tempfile::tempdir_in("/tmp").expect("a folder that other users reach");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let replica = Replica::of(&primary, &folder.path().join("replica"));
    // No commit returns before the replica streams.
    primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'");
    primary.sql("postgres", "SELECT pg_reload_conf()");
    let host = primary.url.rsplit('@').next().and_then(|host| host.split(['/', '?']).next()).expect("a host");
    let both = primary.url.replace(host, &format!("127.0.0.1:{},{host}", replica.port));
    let url = format!("{both}&reads=replicas&synchronous_commit=remote_apply");
    let output =
        place.measure("sensor-operations", &SMALL, &["--on", &format!("postgresql:individual={url}")]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    for trial in &trials {
        assert!(held_against(trial).is_empty(), "{text}");
        assert_eq!(setting(trial, "synchronous_commit"), "remote_apply");
        assert_eq!(setting(trial, "replicas that stream"), "1");
    }
    drop(replica);
    let log = std::fs::read_to_string(folder.path().join("replica/log")).expect("the replica's log");
    let asked = log.lines().filter(|line| line.contains(r#": SELECT r."time""#)).count();
    assert!(asked > 50, "{asked} questions on the replica: {log}");
}

/// Kills a member in mid-load; what was acknowledged is stored, and the report shows the outage. The class is the usual one, so that the level alone makes a
/// loss count.
fn drilled(store: &str, victim: &str) -> f64 {
    let place = Place::new();
    let victim = format!("kill={victim}");
    let settings = ["kill_after_seconds=1", "down_seconds=1", &victim];
    let mut further = vec!["--on", store, "--cluster", "3", "--server-memory", "384"];
    // Three servers on a machine that is busy with other tests may take a while to answer after the loss.
    further.extend(["--timeout", "60"]);
    let output = place.measure("durability", &settings, &further);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    let trial = trials.first().expect("a trial");
    let cluster = &trial["implementation"]["cluster"];
    assert_eq!(cluster["members"], 3, "{trial}");
    let count = |name: &str| trial["ledger"][name].as_u64().unwrap_or(u64::MAX);
    assert!(count("acknowledged") > 0 && count("lost") == 0, "{trial}");
    let figure = |name: &str| trial["figures"][name]["value"].as_f64();
    assert_eq!(figure("survived"), Some(count("acknowledged") as f64));
    // Each store's default level puts a write on several members.
    assert_eq!(figure("loss_breaks_promise"), Some(1.0), "{trial}");
    assert!(figure("restart_seconds").is_some_and(|seconds| seconds > 0.0), "{trial}");
    assert!(text.contains("outage"), "{text}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    figure("outage_seconds").expect("an outage")
}

/// Three nodes by URL, which names all of them. Every read sees what two of three copies acknowledged. Nobody listens at the first address, so that the
/// others have to do. The nodes are started here: one that sensormark starts by itself is in the drill below.
#[cfg(feature = "cassandra")]
pub fn three_of_cassandra_by_url_are_one_valid_server() {
    let (home, place) = (Place::new(), Place::new());
    let supervisor = Supervisor::new(Some(home.path().join("state"))).expect("a state folder");
    let options = ServerOptions {
        memory_bytes: 384 << 20,
        cluster: Some(Cluster { members: 3, consistency: "quorum".to_owned() }),
        ..ServerOptions::default()
    };
    let server = supervisor.start(&sensormark_cassandra::Cassandra::new(), &options, None);
    let server = server.expect("three nodes");
    let url = server.endpoint().url.expose().to_owned();
    let port = url.split("@127.0.0.1:").nth(1).and_then(|rest| rest.split(',').next());
    let first = format!("@127.0.0.1:{},127.0.0.2:", port.expect("its addresses"));
    assert!(url.contains(&first), "several addresses");
    // Management ports are of nodes that all have to answer, and not of a user's URL.
    let url = url.split("&jmx=").next().expect("a URL");
    let url = url.replacen(&first, "@127.0.0.1:1,127.0.0.2:", 1);
    let on = format!("cassandra:individual={url}");
    // Its commit log is flushed from time to time.
    let output = place.measure("sensor-operations", &SMALL, &["--on", &on, "--durability", "default"]);
    let text = said(&output);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    for trial in &trials {
        assert!(held_against(trial).is_empty(), "{text}");
        assert_eq!(trial["server"]["managed"], false, "{trial}");
        assert_eq!(trial["ledger"]["lost"], 0, "{trial}");
        assert_eq!(setting(trial, "consistency level"), "Quorum");
        assert_eq!(setting(trial, "hinted_handoff_enabled"), "true");
    }
    assert!(!text.contains(&url), "the password shows");
}

#[cfg(not(feature = "cassandra"))]
pub const fn three_of_cassandra_by_url_are_one_valid_server() {}

/// The other two copies' word is enough, so the load goes on; the node joins again.
pub fn the_loss_of_a_node_of_cassandra_is_no_outage_at_quorum() {
    let outage = drilled("cassandra", "replica");
    assert!(outage < 5.0, "{outage}: it was down for 1 s and its start");
}

/// What has no cluster is refused before anything is started, and one server has no member to lose.
pub fn what_cannot_be_a_cluster_is_refused() -> Option<String> {
    let place = Place::new();
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = place.run(&[&["run", "devops"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        for word in words {
            assert!(errors(&output).contains(word), "{word}: {}", errors(&output));
        }
    };
    let embedded = ["runs inside the client", "--cluster 3"];
    refused(&["--on", "sqlite", "--cluster", "3"], &embedded);
    for store in ["postgresql", "mariadb", "mongodb"] {
        let words = ["one server of it alone", "names all of its hosts"];
        refused(&["--on", store, "--cluster", "3"], &words);
    }
    let by_url = "postgresql=postgresql://u:hunter2@127.0.0.1:1/";
    refused(&["--on", "sqlite", "--consistency", "on"], &["--cluster"]);
    let output = place.run(&["run", "devops", "--on", by_url, "--cluster", "3"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(!said(&output).contains("hunter2"), "{}", said(&output));
    None
}
