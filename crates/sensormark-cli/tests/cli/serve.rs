//! The server of pages: what it shows, and whom it refuses.

use crate::support::{Place, errors};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");

/// A server, ended with the test.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(place: &Place) -> Self {
        let mut child = place
            .command(&["serve", "results", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.expect("an address").to_owned();
        Self { child, address }
    }

    /// Status and body of a request for this path, as sent to this host.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        (status.expect("a status"), body.unwrap_or_default())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The list has the newer run before the older one, each with what it came to.
fn newest_first(place: &Place, list: &str) {
    let mut names: Vec<String> = std::fs::read_dir(place.results())
        .expect("results")
        .map(|run| run.expect("a run").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.retain(|name| name != "damaged");
    let at = |name: &str| list.find(&format!(">{name}</a>")).expect("listed");
    assert!(at(&names[1]) < at(&names[0]), "the newest first: {list}");
    for told in ["own", "SQLite bulk", "<td>sqlite</td>", "badge rough"] {
        assert!(list.contains(told), "{told}: {list}");
    }
}

#[test]
fn runs_are_listed_shown_and_compared_on_loopback_alone() {
    let place = Place::new();
    let nothing = place.run(&["serve", "."]);
    assert_eq!(nothing.status.code(), Some(2), "{}", errors(&nothing));
    let set = ["--set", "layouts=bulk", "--set", "repetitions=1", "--set", "mixed.duration=200ms"];
    let common = ["--results", "results", "--tolerate-disturbance", "--progress=quiet"];
    for _ in 0..2 {
        let output = place.run(&[&["run", WORKLOAD], &set[..], &common[..]].concat());
        assert!(output.status.code().is_some_and(|code| code < 2), "{}", errors(&output));
    }
    std::fs::create_dir_all(place.path().join("results/damaged/trials")).expect("ours");
    std::fs::write(place.path().join("results/damaged/run.json"), "{").expect("ours");

    let served = Served::start(&place);
    assert!(served.address.starts_with("127.0.0.1:"));
    let (status, list) = served.get("/");
    assert_eq!(status, 200);
    assert_eq!(list.matches("<a href=\"runs/").count(), 2, "{list}");
    assert!(list.contains("is damaged"), "{list}");
    newest_first(&place, &list);
    let (status, page) = served.get("/runs/0");
    assert!(status == 200 && page.contains("<title>sensormark: "), "{status}");
    let (status, page) = served.get("/compare?first=0&second=1");
    assert!(status == 200 && page.contains("not tested"), "{status}");
    let (status, page) = served.get("/runs/2");
    assert_eq!(status, 422, "a damaged run is told");
    let has_a_way_back = page.contains("is damaged") && page.contains("<a href=\"/\">All runs</a>");
    assert!(has_a_way_back, "{page}");
    for path in ["/runs/9", "/runs/..%2f..", "/runs/", "/nothing", "/compare?first=0"] {
        assert_eq!(served.get(path).0, 404, "{path}");
    }
    assert_eq!(served.ask("GET", "/", "example.org").0, 403);
    assert_eq!(served.ask("POST", "/", &served.address).0, 405);
}
