//! What a failure of input or output means, where its meaning is the same for every server.

use sensormark_store::ErrorKind;
use std::io;

/// Kind, whether a write may nevertheless be stored, and the next step. `None` where it depends on the database. A store may give advice of its own, but no other kind.
/// Where no connection came about, nothing was written, so a store says that there is no doubt.
pub fn meaning(kind: io::ErrorKind) -> Option<(ErrorKind, bool, &'static str)> {
    use io::ErrorKind as Io;
    Some(match kind {
        Io::ConnectionRefused => {
            (ErrorKind::Unavailable, false, "nobody listens there: start the server or correct host and port")
        }
        Io::HostUnreachable | Io::NetworkUnreachable | Io::NetworkDown | Io::NotFound => {
            (ErrorKind::Unavailable, false, "the host cannot be reached: check its name and the network")
        }
        Io::AddrNotAvailable | Io::AddrInUse => {
            (ErrorKind::Unavailable, false, "no local port is left: use fewer clients")
        }
        Io::TimedOut => (ErrorKind::Timeout, true, "no answer in time: check the network or allow more time"),
        Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::UnexpectedEof => (
            ErrorKind::Unavailable,
            true,
            "the connection broke: look into the server's log and connect again",
        ),
        Io::OutOfMemory => (ErrorKind::Overload, true, "no memory is left: use fewer clients"),
        _ => return None,
    })
}
