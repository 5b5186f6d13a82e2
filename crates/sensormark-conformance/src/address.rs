//! A store's server on an address that other hosts reach: where it listens, and who comes in. A store's `tests/address.rs` (with `harness = false`) runs this, with
//! what only the store's own protocol can ask.

use super::place::with_password;
use libtest_mimic::{Arguments, Completion, Trial};
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::server::ServerOptions;
use sensormark_store::{Endpoint, ErrorKind, Store, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long an answer of HTTP may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The state of a TCP socket that listens, as the kernel's table has it.
const LISTENS: &str = "0A";

/// A server that others could reach.
pub struct Reachable<'a, S> {
    /// Its store.
    pub store: &'a S,
    /// The server.
    pub server: &'a ManagedServer,
    /// Where it listens.
    pub address: Ipv4Addr,
}

/// What a store's own test tries on it, and what is wrong in words.
pub type Further<S> = fn(&Reachable<'_, S>) -> Result<(), String>;

/// Runs the test. It is ignored where the server is not installed, or this machine has no address but loopback.
pub fn main<S: Store + 'static>(store: S, further: Further<S>) {
    let arguments = Arguments::from_args();
    let store = Arc::new(store);
    let installed = store.installation().map_err(|error| error.to_string());
    let place = installed.and_then(|_| other_address());
    let name = "on another address nobody comes in without the password";
    let trial = Trial::ignorable_test(name, move || match &place {
        Err(why) => Ok(Completion::ignored_with(why.clone())),
        Ok(address) => {
            check(&*store, *address, further)?;
            Ok(Completion::Completed)
        }
    });
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

/// The address by which this machine would speak to others. Nothing is sent.
fn other_address() -> Result<Ipv4Addr, String> {
    let none = |_| "this machine has no address but loopback".to_owned();
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(none)?;
    // For documentation: nobody has it.
    socket.connect("198.51.100.1:9").map_err(none)?;
    match socket.local_addr().map_err(none)?.ip() {
        std::net::IpAddr::V4(address) if !address.is_loopback() => Ok(address),
        other => Err(format!("this machine speaks to others from {other}")),
    }
}

fn check<S: Store>(store: &S, address: Ipv4Addr, further: Further<S>) -> Result<(), String> {
    let options = ServerOptions {
        memory_bytes: 512 << 20,
        clients: 8,
        address: Some(address),
        ..ServerOptions::default()
    };
    let supervisor = Supervisor::new(None).map_err(text)?;
    let server = supervisor.start(store, &options, None).map_err(text)?;
    let reachable = Reachable { store, server: &server, address };
    reachable.listens_there_alone()?;
    reachable.asks_for_the_password()?;
    further(&reachable)
}

fn text(error: StoreError) -> String {
    error.to_string()
}

impl<S: Store> Reachable<'_, S> {
    /// Every socket of the server listens on loopback, or is one of those that its endpoint names.
    fn listens_there_alone(&self) -> Result<(), String> {
        let mut sockets = BTreeSet::new();
        for process in self.server.processes() {
            let folder = format!("/proc/{}", process.pid);
            let folder = Path::new(&folder);
            let inodes = inodes(folder);
            for table in ["tcp", "tcp6", "udp", "udp6"] {
                let text = fs::read_to_string(folder.join("net").join(table)).unwrap_or_default();
                sockets.extend(listening(&text, &inodes));
            }
        }
        let ports = &self.server.endpoint().ports;
        let named = |socket: &SocketAddrV4| *socket.ip() == self.address && ports.contains(&socket.port());
        let strange = sockets.iter().find(|socket| !socket.ip().is_loopback() && !named(socket));
        match strange {
            Some(socket) => Err(format!("it listens on {socket} too: {sockets:?}")),
            None if sockets.iter().any(named) => Ok(()),
            None => Err(format!("it does not listen on the address: {sockets:?}")),
        }
    }

    /// The endpoint's URL comes in. Neither another password nor none does.
    fn asks_for_the_password(&self) -> Result<(), String> {
        let endpoint = self.server.endpoint();
        let url = endpoint.url.expose();
        self.version(endpoint).map_err(text)?;
        let wrong = with_password(url, "Wr0ngPassw0rd").ok_or("the URL has no password")?;
        self.keeps_out(&wrong)?;
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (_, place) = rest.rsplit_once('@').unwrap_or_default();
        let without = self.store.endpoint(&format!("{scheme}://{place}"));
        match without.and_then(|endpoint| self.version(&endpoint)) {
            Ok(_) => Err("it lets anybody in".to_owned()),
            Err(_) => Ok(()),
        }
    }

    /// That the server refuses who comes by this URL.
    ///
    /// # Errors
    /// When it does not, or for another reason.
    pub fn keeps_out(&self, url: &str) -> Result<(), String> {
        let endpoint = self.store.endpoint(url).map_err(text)?;
        match self.version(&endpoint) {
            Err(error) if error.kind() == ErrorKind::Authentication => Ok(()),
            Err(error) => Err(format!("it is refused for another reason: {error}")),
            Ok(_) => Err("it lets in who has another password".to_owned()),
        }
    }

    /// That a server with this account beside ours does not pass for one of our own.
    ///
    /// # Errors
    /// When it does.
    pub fn notices(&self, account: &str) -> Result<(), String> {
        let ours = self.version(self.server.endpoint()).map(drop);
        let again = self.server.restart(self.store);
        for started in [ours, again] {
            match started {
                Err(error)
                    if error.kind() == ErrorKind::Configuration && error.to_string().contains(account) => {}
                Err(error) => return Err(format!("it fails for another reason: {error}")),
                Ok(()) => return Err(format!("{account} is not noticed")),
            }
        }
        Ok(())
    }

    fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        super::client::block_on(self.store.version(endpoint))
    }

    /// The status that the server answers by HTTP, to a request of this method and path, with further lines of its head.
    ///
    /// # Errors
    /// When nothing is answered that is HTTP.
    pub fn status(&self, port: u16, request: &str, (head, body): (&str, &str)) -> Result<u16, String> {
        let failed = |error: std::io::Error| format!("{request}: {error}");
        let mut stream = TcpStream::connect((self.address, port)).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let length = body.len();
        let message = format!(
            "{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{head}Content-Length: {length}\r\n\r\n{body}",
            self.address
        );
        stream.write_all(message.as_bytes()).map_err(failed)?;
        let mut first = [0; 12];
        stream.read_exact(&mut first).map_err(failed)?;
        let first = String::from_utf8_lossy(&first).into_owned();
        let status = first.rsplit(' ').next().and_then(|code| code.parse().ok());
        status.ok_or_else(|| format!("{request}: {first:?} is not HTTP"))
    }
}

/// The sockets that a process holds.
fn inodes(process: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten();
    let links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    let inode = |link: std::path::PathBuf| {
        let link = link.to_str()?.strip_prefix("socket:[")?;
        Some(link.strip_suffix(']')?.to_owned())
    };
    links.filter_map(inode).collect()
}

/// Those of these sockets that wait for others, from a table of the kernel's. An address of IPv6 is the one of IPv4 that it stands for, or every address.
fn listening(table: &str, inodes: &BTreeSet<String>) -> Vec<SocketAddrV4> {
    let mut found = Vec::new();
    for line in table.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, state, .., inode] = words.get(..10).unwrap_or_default() else {
            continue;
        };
        // A datagram socket waits for others where it has no partner.
        let waits = *state == LISTENS || (*state == "07" && remote.ends_with(":0000"));
        if let Some(socket) = socket(local).filter(|_| waits && inodes.contains(*inode)) {
            found.push(socket);
        }
    }
    found
}

/// "0100007F:1F90", each word of the address with its lowest byte first.
fn socket(text: &str) -> Option<SocketAddrV4> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::swap_bytes);
    let address = match address.len() {
        8 => Ipv4Addr::from(word(address)?),
        _ if address == "00000000000000000000000001000000" => Ipv4Addr::LOCALHOST,
        _ if address.starts_with("0000000000000000FFFF0000") => Ipv4Addr::from(word(&address[24..])?),
        _ => Ipv4Addr::UNSPECIFIED,
    };
    Some(SocketAddrV4::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_read_from_the_kernels_tables() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0000 100 0 0 10 0\n\
            1: 070200C0:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0000 100 0 0 10 0\n\
            2: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0000 100 0 0 10 0\n\
            3: 00000000:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0000 100 0 0 10 0\n";
        let inodes = ["11", "12", "13"].map(str::to_owned).into();
        let found: Vec<String> = listening(table, &inodes).iter().map(SocketAddrV4::to_string).collect();
        assert_eq!(found, ["127.0.0.1:8080", "192.0.2.7:80"]);
        let text = |words: &str| socket(words).unwrap().to_string();
        assert_eq!(text("00000000000000000000000000000000:0050"), "0.0.0.0:80");
        assert_eq!(text("0000000000000000FFFF0000070200C0:0050"), "192.0.2.7:80");
    }
}
