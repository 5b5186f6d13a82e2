//! The program in a pseudo-terminal: what it writes there, and what a person types.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the program may take to ask the next question.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program on a terminal of this size.
pub struct Session {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// What was waited for already.
    seen: usize,
}

impl Session {
    /// Starts the command, which has the terminal alone.
    pub fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&controller).expect("it is ours");
        unlockpt(&controller).expect("it is ours");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).expect("a size");
        let name = ptsname(&controller, Vec::new()).expect("a name");
        let path = PathBuf::from(name.to_str().expect("a plain name"));
        let open = || File::options().read(true).write(true).open(&path).expect("its other end");
        command.stdin(open()).stdout(open()).stderr(open());
        let child = command.spawn().expect("the program");
        // The command holds the other end open.
        drop(command);
        let keyboard = File::from(controller);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let mut output = keyboard.try_clone().expect("a second handle");
        let written = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut part = [0; 4_096];
            // The kernel says that nobody holds the other end any more with an error.
            while let Ok(length @ 1..) = output.read(&mut part) {
                let mut written = written.lock().expect("nobody panics");
                written.extend_from_slice(&part[..length]);
            }
        });
        Self { child, keyboard, screen, reader, seen: 0 }
    }

    /// Waits for a text after what was waited for before.
    pub fn expect(&mut self, text: &str) {
        let since = Instant::now();
        loop {
            let screen = self.screen.lock().expect("nobody panics").clone();
            let rest = String::from_utf8_lossy(&screen[self.seen..]).into_owned();
            if let Some(place) = rest.find(text) {
                self.seen += place + text.len();
                return;
            }
            assert!(since.elapsed() < PATIENCE, "no {text:?} in:\n{rest}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types a text.
    pub fn send(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal is there");
    }

    /// The program's end, and all that it wrote.
    pub fn finish(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("its end");
        self.reader.join().expect("the reader ends");
        let screen = self.screen.lock().expect("nobody panics");
        let text = String::from_utf8_lossy(&screen).replace('\r', "");
        (status, text)
    }
}
