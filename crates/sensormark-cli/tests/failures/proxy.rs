//! A network that can fall silent. It passes on what is sent until it has to hold everything back. Connections stay open.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a held connection looks whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// A proxy on a port of its own, before a server on this machine.
pub struct Proxy {
    /// Its port on 127.0.0.1.
    pub port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    silent: AtomicBool,
    over: AtomicBool,
}

impl Proxy {
    /// Before the server on this port.
    pub fn before(server: u16) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(words)?;
        let port = listener.local_addr().map_err(words)?.port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.over.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || connect(client, server, &shared));
            }
        });
        Ok(Self { port, state })
    }

    /// From now on nothing passes; new connections are accepted and left alone.
    pub fn fall_silent(&self) {
        self.state.silent.store(true, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        // Ends the wait for the next client.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

#[allow(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn words(error: std::io::Error) -> String {
    error.to_string()
}

fn connect(client: TcpStream, server: u16, state: &Arc<State>) {
    while state.silent.load(Ordering::SeqCst) {
        if state.over.load(Ordering::SeqCst) {
            return;
        }
        std::thread::sleep(LOOK);
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server));
    let Ok(upstream) = TcpStream::connect_timeout(&address, Duration::from_secs(5)) else {
        return;
    };
    let (Ok(from), Ok(to)) = (client.try_clone(), upstream.try_clone()) else {
        return;
    };
    let there = Arc::clone(state);
    std::thread::spawn(move || pass(from, to, &there));
    pass(upstream, client, state);
}

/// Passes bytes on, one way, until the sender ends or the proxy is over.
fn pass(mut from: TcpStream, mut to: TcpStream, state: &State) {
    let _ = from.set_read_timeout(Some(LOOK));
    let _ = (from.set_nodelay(true), to.set_nodelay(true));
    let mut buffer = vec![0; 64 << 10];
    while !state.over.load(Ordering::SeqCst) {
        if state.silent.load(Ordering::SeqCst) {
            std::thread::sleep(LOOK);
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) if state.silent.load(Ordering::SeqCst) => {}
            Ok(count) if to.write_all(&buffer[..count]).is_err() => break,
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
