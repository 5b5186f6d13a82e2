//! The program at work: what it tells, and its processes.

use crate::support::{Place, read_folder};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The program, started.
pub struct Running {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
    output: Arc<Mutex<String>>,
    /// The command, as it can be typed.
    pub command: String,
}

/// How it ended, and all that it told.
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub status: ExitStatus,
    /// Standard output.
    pub output: String,
    /// The lines of standard error.
    pub lines: Vec<String>,
}

impl Running {
    /// Starts it in a place with these arguments and variables.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        place: &Place,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> Result<Self, String> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = place.command(&arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let scratch = place.path().join("tmp");
        std::fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(&scratch, open).map_err(|error| error.to_string())?;
        command.env("TMPDIR", &scratch);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let lines = Arc::new(Mutex::new(Vec::new()));
        let output = Arc::new(Mutex::new(String::new()));
        let (told, printed) = (Arc::clone(&lines), Arc::clone(&output));
        let errors = child.stderr.take().ok_or("no standard error")?;
        let mut standard = child.stdout.take().ok_or("no standard output")?;
        let readers = vec![
            std::thread::spawn(move || {
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    held(&told).push(line);
                }
            }),
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = standard.read_to_string(&mut text);
                *held(&printed) = text;
            }),
        ];
        let command = format!("sensormark {}", arguments.join(" "));
        Ok(Self { child, lines, readers, output, command })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// How many events it told of, its lines of progress left out.
    pub fn events(&self) -> usize {
        let lines = held(&self.lines);
        let is_counted =
            |line: &&String| line.starts_with("{\"event\":") && !line.starts_with("{\"event\":\"progress\"");
        lines.iter().filter(is_counted).count()
    }

    /// What it is at, by the last event that says so.
    pub fn phase(&self) -> String {
        let lines = held(&self.lines);
        let mut phase = "beginning".to_owned();
        for line in lines.iter() {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            match event["event"].as_str() {
                Some("opening") => "opening".clone_into(&mut phase),
                Some("phase") => event["data"]["name"].as_str().unwrap_or_default().clone_into(&mut phase),
                Some("trial_finished") => "between trials".clone_into(&mut phase),
                _ => {}
            }
        }
        phase
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it takes longer than `limit`: what it said.
    pub fn end(mut self, limit: Duration) -> Result<Ended, String> {
        let deadline = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    let text = held(&self.lines).join("\n");
                    return Err(format!("not ended within {} s:\n{text}", limit.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        // Roles that outlive a killed coordinator for a moment hold its pipes.
        for reader in self.readers.drain(..) {
            while !reader.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(Ended { status, output: held(&self.output).clone(), lines: held(&self.lines).clone() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn held<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process of a place.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// Its command line, with spaces between.
    pub command: String,
    is_role: bool,
    is_program: bool,
}

impl Process {
    /// Whether it is a process of a trial.
    pub const fn is_role(&self) -> bool {
        self.is_role
    }

    /// Whether it is a server's.
    pub const fn is_server(&self) -> bool {
        !self.is_program
    }
}

/// The living processes whose arguments or environment name this place. One that has ended and was not waited for has neither.
pub fn processes_of(place: &Place) -> Vec<Process> {
    let mark = place.path().to_string_lossy().into_owned();
    let is_number = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.and_then(|name| name.parse().ok())
    };
    let mut found = Vec::new();
    for path in read_folder(Path::new("/proc")) {
        let Some(id) = is_number(&path) else {
            continue;
        };
        let read = |name: &str| {
            let bytes = std::fs::read(path.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (command, environment) = (read("cmdline"), read("environ"));
        if !command.contains(&mark) && !environment.contains(&mark) {
            continue;
        }
        let words: Vec<&str> = command.split('\0').collect();
        let is_program = words[0].ends_with("/sensormark");
        found.push(Process {
            id,
            is_role: is_program && words.get(1) == Some(&"role"),
            is_program,
            command: words.join(" "),
        });
    }
    found
}
