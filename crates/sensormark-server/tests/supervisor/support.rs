//! A small real server (this test program, started again in a role), its store, and what the tests look up in /proc.

use sensormark_store::layout::{Family, Layout, LayoutOption};
use sensormark_store::schema::{Schema, Table};
use sensormark_store::server::{Command, ServerFolder, SetUp, StopSignal};
use sensormark_store::{
    Administrator, Capability, Description, ErrorKind, Installation, Launch, Limits, LocalFuture, Logs,
    Operation, Plan, Secret, ServerOptions, Session, SessionKind, Store, StoreError, WriteSize,
};
use sensormark_store::{Endpoint, RepeatedWrite};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The variable that turns this program into a server or a coordinator.
pub const ROLE: &str = "SENSORMARK_TEST_ROLE";

/// How the server of a test behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Listens, asks for the password, answers with its version.
    Normal,
    /// Like normal, and starts a child and a grandchild in a session of its own.
    Family,
    /// Like normal, and SIGTERM does not stop it.
    Stubborn,
    /// Runs and never listens.
    Mute,
    /// Prints a reason (and, carelessly, its password) and ends with exit status 3.
    Broken,
    /// Writes into its data folder until that is full, and ends.
    Filling,
    /// Writes to the kernel's device that is always full, and ends.
    Full,
    /// Its program is not there.
    Missing,
}

impl Behaviour {
    const ALL: [Self; 8] = [
        Self::Normal,
        Self::Family,
        Self::Stubborn,
        Self::Mute,
        Self::Broken,
        Self::Filling,
        Self::Full,
        Self::Missing,
    ];

    pub fn name(self) -> String {
        format!("{self:?}")
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|behaviour| behaviour.name() == name)
    }
}

/// The store of the small server.
pub struct TestStore {
    pub behaviour: Behaviour,
    pub start_seconds: u64,
    /// A port that the first launch insists on.
    pub insist_on: Option<u16>,
    pub launches: AtomicU32,
    /// How it behaves in a start of its own in which its account is made.
    pub set_up: Option<Behaviour>,
    /// The URLs that the version was asked by, whoever answered.
    pub asked: Mutex<Vec<String>>,
}

impl TestStore {
    pub fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            start_seconds: 20,
            insist_on: None,
            launches: AtomicU32::new(0),
            set_up: None,
            asked: Mutex::new(Vec::new()),
        }
    }

    /// The start for its account, on 127.0.0.1.
    fn set_up(&self, folder: &ServerFolder, behaviour: Behaviour) -> SetUp {
        let mut first = folder.clone();
        first.address = Ipv4Addr::LOCALHOST;
        let mut server = self.command(&first, "set-up", folder.ports[0]);
        server.environment.push(("BEHAVIOUR".into(), behaviour.name()));
        SetUp { server, endpoint: endpoint(&first, folder.ports[0]) }
    }

    /// The command that runs this program in a role; the copy is readable by the server's user.
    fn command(&self, folder: &ServerFolder, role: &str, port: u16) -> Command {
        Command {
            program: folder.join("program"),
            arguments: ["role", "--exact", "--ignored", "--nocapture"].map(String::from).to_vec(),
            environment: vec![
                (ROLE.into(), role.into()),
                ("BEHAVIOUR".into(), self.behaviour.name()),
                ("PORT".into(), port.to_string()),
                ("ADDRESS".into(), folder.address.to_string()),
                ("DATA".into(), folder.data.display().to_string()),
                ("PASSWORD".into(), folder.password.expose().into()),
            ],
            input: None,
        }
    }

    fn server(&self, folder: &ServerFolder, port: u16) -> Command {
        let mut command = self.command(folder, "server", port);
        match self.behaviour {
            Behaviour::Missing => command.program = folder.join("no-such-program"),
            Behaviour::Stubborn => {
                let script = r#"trap "" TERM; exec "$0" "$@""#;
                command
                    .arguments
                    .splice(0..0, ["-c".into(), script.into(), command.program.display().to_string()]);
                command.program = "sh".into();
            }
            _ => {}
        }
        command
    }
}

fn endpoint(folder: &ServerFolder, port: u16) -> Endpoint {
    Endpoint {
        url: Secret::new(format!("tiny://{}@{}:{port}", folder.password.expose(), folder.address)),
        label: "tiny (test)".into(),
        managed: true,
        ports: vec![port],
    }
}

impl Store for TestStore {
    fn description(&self) -> Description {
        Description {
            name: "tiny".into(),
            title: "Tiny".into(),
            embedded: false,
            session: SessionKind::Async,
            durability: Vec::new(),
            url_example: "tiny://127.0.0.1:1".into(),
            repeated_write: RepeatedWrite::Replaces,
            logs: Logs::default(),
        }
    }

    fn layouts(&self, _: &Schema, _: Family) -> Vec<LayoutOption> {
        Vec::new()
    }

    fn capability(&self, _: Operation, _: &Layout, _: &Table) -> Capability {
        Capability::Unsupported("it keeps no readings".into())
    }

    fn limits(&self, _: &Layout, _: &Table) -> Limits {
        Limits { readings_per_statement: 1 }
    }

    fn write_size(&self, _: &Layout, _: &Table) -> WriteSize {
        WriteSize {
            readings: 1,
            bytes: 1,
            reading_bytes: 1,
            advice: "it keeps no readings",
            link: "https://doc.rust-lang.org/std/collections/",
        }
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        Ok(Installation {
            path: std::env::current_exe().unwrap(),
            version: "1".into(),
            origin: "this test".into(),
        })
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        _: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        std::fs::copy(&installation.path, folder.join("program")).unwrap();
        let first = self.launches.fetch_add(1, Ordering::SeqCst) == 0;
        let port = self.insist_on.filter(|_| first).unwrap_or(folder.ports[0]);
        let mut after = self.command(folder, "after", port);
        after.input = Some(Secret::new(format!("{}\n", folder.password.expose())));
        after.environment.retain(|(name, _)| name != "PASSWORD");
        Ok(Launch {
            before: vec![self.command(folder, "before", port)],
            set_up: self.set_up.map(|behaviour| Box::new(self.set_up(folder, behaviour))),
            server: self.server(folder, port),
            after: vec![after],
            endpoint: endpoint(folder, port),
            stop: StopSignal::Terminate,
            start_seconds: self.start_seconds,
            notes: vec!["small".into()],
        })
    }

    fn endpoint(&self, _: &str) -> Result<Endpoint, StoreError> {
        Err(StoreError::unsupported("read a URL", "not in this test"))
    }

    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        let url = endpoint.url.expose().to_owned();
        self.asked.lock().unwrap().push(url);
        Box::pin(async move {
            ask(endpoint).await.map_err(|error| {
                StoreError::new(ErrorKind::Unavailable, "ask the tiny server", error.to_string())
            })
        })
    }

    fn administrator<'a>(
        &'a self,
        _: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async { Err(StoreError::unsupported("administer", "not in this test")) })
    }

    fn connect<'a>(&'a self, _: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async { Err(StoreError::unsupported("connect", "not in this test")) })
    }
}

async fn ask(endpoint: &Endpoint) -> std::io::Result<String> {
    let url = endpoint.url.expose();
    let (password, place) = url.trim_start_matches("tiny://").split_once('@').unwrap_or_default();
    let mut stream = tokio::net::TcpStream::connect(place).await?;
    stream.write_all(format!("{password}\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    if answer.is_empty() {
        return Err(std::io::Error::other("it hung up"));
    }
    Ok(answer)
}

/// Asks the server from outside, blocking; what it answers within `limit`.
pub fn ask_within(endpoint: &Endpoint, limit: Duration) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(limit, ask(endpoint)).await.ok()?.ok() })
}

/// What this program does in a role.
pub fn play(role: &str) {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let data = PathBuf::from(variable("DATA"));
    match role {
        "before" => std::fs::write(data.join("prepared"), "by the command before\n").unwrap(),
        "after" => {
            let mut password = String::new();
            std::io::stdin().read_line(&mut password).unwrap();
            assert_eq!(password.trim().len(), 24, "the password comes by pipe");
            std::fs::write(data.join("after"), "ran\n").unwrap();
        }
        "child" => std::thread::sleep(Duration::from_secs(600)),
        "eater" => eat(),
        "set-up" => {
            std::fs::write(data.join("account"), "made\n").unwrap();
            serve(Behaviour::of_name(&variable("BEHAVIOUR")).unwrap(), &data);
        }
        "server" => serve(Behaviour::of_name(&variable("BEHAVIOUR")).unwrap(), &data),
        other => panic!("no such role: {other}"),
    }
}

fn serve(behaviour: Behaviour, data: &Path) {
    let password = std::env::var("PASSWORD").unwrap();
    eprintln!("tiny server: the password is {password}");
    assert!(data.join("prepared").exists(), "the command before has run");
    let mut children = Vec::new();
    match behaviour {
        Behaviour::Broken => {
            eprintln!("tiny server: option frobnicate is unknown");
            std::process::exit(3);
        }
        Behaviour::Mute => std::thread::sleep(Duration::from_secs(600)),
        Behaviour::Filling => fill(&data.join("table")),
        Behaviour::Full => fill(Path::new("/dev/full")),
        Behaviour::Family => children.push(start_family()),
        _ => {}
    }
    let port: u16 = std::env::var("PORT").unwrap().parse().unwrap();
    let address = std::env::var("ADDRESS").unwrap();
    let listener = TcpListener::bind((address, port)).unwrap();
    for stream in listener.incoming() {
        match answer(stream.unwrap(), &password).as_deref() {
            Ok(EAT) => eat(),
            Ok(HAVE_A_CHILD_EAT) => children.push(start_role("eater")),
            _ => {}
        }
    }
}

/// Answers the password with the version; gives what was said.
fn answer(mut stream: TcpStream, password: &str) -> std::io::Result<String> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
    if line.trim() == password {
        stream.write_all(b"tiny 1.0")?;
    }
    Ok(line.trim().to_owned())
}

fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    let block = vec![1_u8; 1 << 16];
    loop {
        if let Err(error) = file.write_all(&block) {
            eprintln!("tiny server: cannot write: {error}");
            std::process::exit(4);
        }
    }
}

/// The command that makes the server take memory itself.
pub const EAT: &str = "eat";

/// The command that makes a child of the server take memory.
pub const HAVE_A_CHILD_EAT: &str = "have a child eat";

/// Takes memory until the kernel ends this process, or half a gigabyte is taken.
fn eat() {
    let mut taken = Vec::new();
    while taken.len() < 32 {
        taken.push(vec![1_u8; 16 << 20]);
    }
    drop(taken);
}

/// A child in our session, and one that leaves session, group and parent behind.
fn start_family() -> Child {
    let program = std::env::current_exe().unwrap();
    let child = start_role("child");
    let mut leaver = std::process::Command::new("setsid")
        .arg("--fork")
        .arg(&program)
        .args(["role", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, "child")
        .spawn()
        .unwrap();
    leaver.wait().unwrap();
    child
}

fn start_role(role: &str) -> Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["role", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .spawn()
        .unwrap()
}

/// A folder that the server's user can reach, gone with the value.
pub fn reachable_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

/// The names in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The living processes that have this text in their environment.
pub fn processes_with(text: &str) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid| is_alive(*pid))
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environment| String::from_utf8_lossy(&environment).contains(text))
        })
        .collect()
}

/// Whether this process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        !state.starts_with('Z') && !state.starts_with('X')
    })
}

/// Waits until something holds; false when it does not within `limit`.
pub fn comes_true(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    condition()
}
