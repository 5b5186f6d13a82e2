//! What no probe can watch is refused, before anything is measured.

use crate::support::{Place, errors};
use std::net::TcpListener;

/// What is wrong is said, and where, and what to do; before anything is measured.
pub fn wrong_input_is_refused() {
    let place = Place::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = free.local_addr().expect("bound").port().to_string();
    drop(free);
    let cases: [(&[&str], &str); 8] = [
        (&["probe", "--pid", "2147483647"], "there is no process 2147483647"),
        (&["probe", "--port", &nobody], "nobody listens on TCP port"),
        (&["probe", "--unit", "not-there"], "the unit not-there.service; systemctl"),
        (&["probe", "--container", "000000000000"], "the container 000000000000"),
        (&["probe", "--pid", "1", "--interval", "1ms"], "the shortest time between two is 50ms"),
        (&["probe"], "--pid"),
        (&["run", "machine-tool", "--probe", "server=port"], "no such server is given by URL"),
        (&["run", "machine-tool", "--probe", "5432"], "write server=port"),
    ];
    for (arguments, words) in cases {
        let refused = place.run(arguments);
        let text = errors(&refused);
        assert!(!refused.status.success(), "{arguments:?} {text}");
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    assert!(!place.results().exists(), "nothing was begun");
}
