//! Ways to a server that runs already: sockets of this machine, two pairs of user and password, a pooler.

use crate::encrypted::{Started, as_nobody, data, free_port, give, look, programs};
use crate::existing_server::Running;
use crate::ordinary_user::{all_hold, flat, mariadb, run};
use crate::support::{Place, read_folder, said};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The password of a server's URL.
fn password(url: &str) -> &str {
    url.split(['@', ':']).nth(2).expect("a password")
}

/// Waits for a server to listen.
fn wait_until(it_listens: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !it_listens() {
        assert!(Instant::now() < deadline, "the server does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn mariadb_by_a_socket() {
    let place = Place::new();
    let server = Running::start_of(&place, "mariadb");
    let socket = mariadb(&server.url, "SELECT @@socket");
    let socket = socket.trim();
    assert!(Path::new(socket).exists(), "{socket}");
    // Nobody listens at this port, so it is the socket.
    let password = password(&server.url);
    let on = format!("mariadb:bulk/bulk=mysql://sensormark:{password}@localhost:1/?socket={socket}");
    let text = flat(&run(&place, &on, &[]));
    all_hold(&place, 2, &text);
    let missing = flat(&place.run(&["clean", &format!("{on}.not")]));
    assert!(missing.contains("No such file") && !missing.contains(password), "{missing}");
}

pub fn postgresql_by_a_socket() {
    let place = Place::new();
    let folder = data(&place);
    let programs = programs("PostgreSQL");
    let files = folder.join("files").display().to_string();
    let mut made = as_nobody(&programs.join("initdb"), &folder);
    let made = made.args(["-D", &files, "-U", "me", "-A", "trust", "--no-sync"]).status();
    assert!(made.expect("it starts").success());
    let mut server = as_nobody(&programs.join("postgres"), &folder);
    server.args(["-D", &files, "-p", "5433", "-h", "", "-k"]).arg(&folder);
    let _server = Started(server.spawn().expect("it starts"));
    wait_until(|| folder.join(".s.PGSQL.5433").exists());
    let folder = folder.display().to_string();
    let on = format!("postgresql:bulk/bulk=postgresql://me@/postgres?host={folder}&port=5433");
    let named = format!("postgresql=postgresql://me@{}:5433/postgres", folder.replace('/', "%2F"));
    for named in [&on, &named] {
        let text = said(&look(&place, named));
        assert!(text.contains("nothing is left"), "{text}");
    }
    let text = flat(&run(&place, &on, &[]));
    all_hold(&place, 2, &text);
}

/// Command line and environment of the server that was started in a place.
fn started_with(place: &Place) -> (Vec<String>, Vec<(String, String)>) {
    let owners = read_folder(&place.path().join("state"));
    let process = owners.iter().find_map(|run| {
        let text = std::fs::read(run.join("sensormark-owner.json")).ok()?;
        serde_json::from_slice::<serde_json::Value>(&text).ok()?["server"]["pid"].as_u64()
    });
    let process = process.expect("a process");
    let words = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{process}/{name}")).expect("it runs");
        text.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let pair = |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    (words("cmdline"), words("environ").iter().filter_map(pair).collect())
}

/// A QuestDB like the one that sensormark starts, whose HTTP has a user of its own.
pub fn questdb_with_two_pairs() {
    let place = Place::new();
    let model = Running::start_of(&place, "questdb");
    let (mut command, mut environment) = started_with(&place);
    let password = password(&model.url).to_owned();
    let folder = data(&place);
    *command.last_mut().expect("its folder") = folder.display().to_string();
    for word in &mut command {
        if word.starts_with("-Djava.io.tmpdir=") {
            *word = format!("-Djava.io.tmpdir={}", folder.display());
        }
    }
    let (questions, lines) = (free_port(), free_port());
    let own = [
        ("QDB_PG_NET_BIND_TO", format!("127.0.0.1:{questions}")),
        ("QDB_HTTP_BIND_TO", format!("127.0.0.1:{lines}")),
        ("QDB_HTTP_USER", "writer".to_owned()),
        ("QDB_HTTP_PASSWORD", "l&nes".to_owned()),
    ];
    environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
    drop(model);
    let mut server = as_nobody(Path::new(&command[0]), &folder);
    server.args(&command[1..]).envs(environment);
    let _server = Started(server.spawn().expect("it starts"));
    let url = format!("questdb://sensormark:{password}@127.0.0.1:{questions}/?http={lines}");
    let named = format!("{url}&http.user=writer&http.password=l%26nes");
    let text = said(&look(&place, &format!("questdb={named}")));
    assert!(text.contains("nothing is left"), "{text}");
    let text =
        flat(&run(&place, &format!("questdb:individual-in-seconds={named}"), &["--durability=default"]));
    all_hold(&place, 2, &text);
    let refused = Place::new();
    let text =
        flat(&run(&refused, &format!("questdb:individual-in-seconds={url}"), &["--durability=default"]));
    assert!(text.contains("http.user and http.password") && !text.contains(&password), "{text}");
}

/// Where pgbouncer is.
fn bouncer() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join("pgbouncer")).find(|file| file.is_file())
}

/// What a session sets holds for others where a pooler shares its connections, so a result would not be what it says.
pub fn pgbouncer() -> Option<String> {
    let Some(program) = bouncer() else {
        return Some("pgbouncer is not here; scripts/install-servers.sh pgbouncer brings it".to_owned());
    };
    let place = Place::new();
    let server = Running::start(&place);
    let folder = data(&place);
    let (password, port) = (password(&server.url), free_port());
    let (_, host) = server.url.rsplit_once(':').expect("a port");
    let to = host.split('/').next().expect("a port");
    for mode in ["transaction", "session"] {
        let files = [
            ("users", format!("\"sensormark\" \"{password}\"\n")),
            (
                "pgbouncer.ini",
                format!(
                    "[databases]\n* = host=127.0.0.1 port={to}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
                     auth_type = plain\nauth_file = {0}/users\npool_mode = {mode}\nignore_startup_parameters = options\n",
                    folder.display()
                ),
            ),
        ];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
            give(&folder.join(name));
        }
        let mut started = as_nobody(&program, &folder);
        let started = Started(started.arg("pgbouncer.ini").spawn().expect("it starts"));
        wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        let on = format!("postgresql:bulk/bulk=postgresql://sensormark:{password}@127.0.0.1:{port}/postgres");
        // Nobody has used the pool before the first run.
        for _ in 0..2 {
            let measured = Place::new();
            let output = run(&measured, &on, &[]);
            let text = flat(&output);
            assert!(!text.contains(password), "{text}");
            if mode == "session" {
                all_hold(&measured, 2, &text);
            } else {
                assert_eq!(output.status.code(), Some(2), "{text}");
                assert!(text.contains("pgbouncer in transaction mode? use session mode"), "{text}");
            }
        }
        drop(started);
        let left = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'";
        assert_eq!(server.sql("postgres", left), "0\n", "{mode}");
    }
    None
}
