//! A signal while `servers start` starts a server: nothing stays, neither a process nor a folder.

use crate::interruption::{processes_of, signal, wait_until};
use crate::support::{Place, errors};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

pub fn a_signal_while_a_server_starts_leaves_nothing() {
    for (name, milliseconds) in [("TERM", 0), ("TERM", 300), ("INT", 100), ("TERM", 900)] {
        let place = Place::new();
        let mut command = place.command(&["servers", "start", "postgresql"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        wait_until("a folder", || !place.leftovers().is_empty());
        sleep(Duration::from_millis(milliseconds));
        signal(&child, name);
        let output = child.wait_with_output().expect("it ends");
        let (code, said) = (output.status.code(), errors(&output));
        if code == Some(0) {
            // It was up before the signal, and was left running on purpose.
            place.run(&["servers", "stop", "postgresql"]);
            continue;
        }
        assert_eq!(code, Some(130), "{name} after {milliseconds} ms: {said}");
        let left = processes_of(&place);
        assert!(left.is_empty(), "{name} after {milliseconds} ms: {left:?}");
        let left = place.leftovers();
        assert!(left.is_empty(), "{name} after {milliseconds} ms: {left:?}");
    }
}
