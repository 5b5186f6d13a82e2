//! Clusters that a URL names, a small load on each.

use crate::encrypted::{Cassandra, Started, as_nobody, data, free_port, give};
use crate::existing_server::Running;
use crate::support::{Place, errors, held_against, said};
use serde_json::Value;
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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

/// Three nodes by URL, which names all of them. Every read sees what two of three copies acknowledged. Nobody listens at the first address, so that the others
/// have to do. The nodes are started here, as sensormark starts one, without accounts.
pub fn three_of_cassandra_by_url_are_one_valid_server() {
    let (home, place) = (Place::new(), Place::new());
    let folder = data(&home);
    let learnt = Cassandra::learn(&home, &folder);
    let _nodes: Vec<Started> = (0..3).map(|number| node(&learnt, &folder, number)).collect();
    let port = learnt.port;
    let url = format!(
        "cassandra://127.0.0.1:1,127.0.0.2:{port},127.0.0.3:{port}/?datacenter=datacenter1&replication=3&consistency=quorum"
    );
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
}

/// Starts one of three nodes, which joins the others, and waits until it serves.
fn node(learnt: &Cassandra, folder: &Path, number: usize) -> Started {
    const TOKENS: [&str; 3] = ["-9223372036854775808", "-3074457345618258603", "3074457345618258602"];
    let (own, address) = (folder.join(number.to_string()), format!("127.0.0.{}", number + 1));
    std::fs::create_dir(&own).expect("a folder");
    give(&own);
    let moved = |text: &str| text.replace(&*folder.to_string_lossy(), &own.to_string_lossy());
    let of_this = |line: &str| match line.split_once(": ") {
        Some((name @ ("listen_address" | "rpc_address"), _)) => format!("{name}: {address}\n"),
        Some((name @ "initial_token", _)) => format!("{name}: \"{}\"\n", TOKENS[number]),
        Some((name @ "auto_bootstrap", _)) => format!("{name}: {}\n", number > 0),
        Some((name @ "hinted_handoff_enabled", _)) => format!("{name}: true\n"),
        _ => format!("{line}\n"),
    };
    let configuration: String = moved(&learnt.configuration).lines().map(of_this).collect();
    for (name, text) in learnt.files.iter().chain([&("cassandra.yaml", configuration)]) {
        std::fs::write(own.join(name), text).expect("a file");
        give(&own.join(name));
    }
    let management = format!("-Dcassandra.jmx.local.port={}", free_port());
    let option = |word: &String| match word.as_str() {
        "-Dcassandra.load_ring_state=false" => None,
        "-Dcassandra.ring_delay_ms=0" => Some("-Dcassandra.ring_delay_ms=4000".to_owned()),
        word if word.starts_with("-Dcassandra.jmx.local.port=") => Some(management.clone()),
        word => Some(moved(word)),
    };
    let (program, options) = learnt.command.split_first().expect("a program");
    let mut server = as_nobody(Path::new(program), &own);
    let started = Started(server.args(options.iter().filter_map(option)).spawn().expect("it starts"));
    let deadline = Instant::now() + Duration::from_secs(240);
    while TcpStream::connect((address.as_str(), learnt.port)).is_err() {
        assert!(Instant::now() < deadline, "node {number} does not serve");
        std::thread::sleep(Duration::from_millis(200));
    }
    started
}
