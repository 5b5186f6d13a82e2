//! Processes of known behaviour. This test program starts itself again as a load generator, which does one thing, says by its own clock how much of it it did,
//! and waits. It measures nothing of other processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What the generator is to do; its arguments follow in `ARGUMENTS`, separated by spaces.
const KIND: &str = "SENSORMARK_TEST_LOAD";
const ARGUMENTS: &str = "SENSORMARK_TEST_ARGUMENTS";

/// A load generator that runs.
pub struct Load {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Load {
    /// Starts a generator and waits until it is ready.
    pub fn start(kind: &str, arguments: &str) -> Self {
        Self::spawn(command(kind, arguments))
    }

    /// Starts a generator through a shell script, in which `"$0" "$@"` is the generator.
    pub fn start_by_shell(script: &str, kind: &str, arguments: &str) -> Self {
        use std::os::unix::process::CommandExt;
        let direct = command(kind, arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(direct.get_program()).args(direct.get_args());
        shell.process_group(0);
        set_load(&mut shell, kind, arguments);
        Self::spawn(shell)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start the generator");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("output"));
        let mut load = Self { child, input, output };
        load.wait_for("@ready");
        load
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("pid")
    }

    /// Lets it go on.
    pub fn go(&mut self) {
        let input = self.input.as_mut().expect("input");
        input.write_all(b"go\n").expect("tell the generator");
    }

    /// Waits for what it did, by its own count.
    pub fn done(&mut self) -> u64 {
        self.wait_for("@done")
    }

    fn wait_for(&mut self, word: &str) -> u64 {
        let mut line = String::new();
        loop {
            line.clear();
            let length = self.output.read_line(&mut line).expect("output");
            assert_ne!(length, 0, "the generator ended before {word}");
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().parse().unwrap_or(0);
            }
        }
    }

    /// Lets it end, and waits for that.
    pub fn end(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("output");
        self.child.wait().expect("wait");
    }
}

fn command(kind: &str, arguments: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    command.args(["load::load_generator", "--exact", "--nocapture", "--test-threads=1"]);
    set_load(&mut command, kind, arguments);
    command
}

fn set_load(command: &mut Command, kind: &str, arguments: &str) {
    command.env(KIND, kind).env(ARGUMENTS, arguments);
}

/// Not a test: the generator itself, when this program was started as one.
#[test]
fn load_generator() {
    let Ok(kind) = std::env::var(KIND) else {
        return;
    };
    let text = std::env::var(ARGUMENTS).unwrap_or_default();
    let arguments: Vec<&str> = text.split(' ').collect();
    let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
    match kind.as_str() {
        "burn" => burn_when_told(number(0)),
        "burn-and-exit" => burn_and_linger(number(0)),
        "hold" => hold(number(0)),
        "write" => write(Path::new(arguments[0]), number(1)),
        "send" => send(arguments[0], number(1)),
        "parent" => parent(number(0), number(1)),
        "map" => map(Path::new(arguments[0])),
        "maps" => maps(arguments[0], number(1)),
        other => panic!("no such load: {other}"),
    }
}

/// Says that it is ready, and waits to be told to go on (or for the end of its input).
fn ready() {
    println!("@ready");
    wait();
}

fn wait() {
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).expect("positive")
}

/// Half a core until its own CPU clock has advanced by this much. Returns what it used.
fn burn(milliseconds: u64) -> u64 {
    let start = cpu_ns();
    while cpu_ns() - start < milliseconds * 1_000_000 {
        let slice = cpu_ns();
        while cpu_ns() - slice < 10_000_000 {
            std::hint::black_box((0..1000_u64).sum::<u64>());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    cpu_ns() - start
}

fn burn_when_told(milliseconds: u64) {
    ready();
    // On a thread of its own that ends: the process must not forget it.
    let used = std::thread::spawn(move || burn(milliseconds)).join().expect("thread");
    println!("@done {used}");
    wait();
}

/// Lingers long enough to be sampled before it ends.
fn burn_and_linger(milliseconds: u64) {
    println!("@done {}", burn(milliseconds));
    std::thread::sleep(Duration::from_millis(150));
}

fn hold(bytes: u64) {
    ready();
    let held = vec![1_u8; usize::try_from(bytes).expect("size")];
    println!("@done {}", std::hint::black_box(&held).len());
    wait();
}

fn write(path: &Path, bytes: u64) {
    ready();
    let file = std::fs::File::create(path).expect("create");
    let block = vec![7_u8; 1_000_000];
    for at in (0..bytes).step_by(block.len()) {
        file.write_all_at(&block, at).expect("write");
        file.sync_data().expect("sync");
    }
    println!("@done {bytes}");
    wait();
}

fn send(address: &str, bytes: u64) {
    let mut stream = TcpStream::connect(address).expect("connect");
    ready();
    let block = vec![7_u8; 1_000_000];
    for _ in 0..bytes / 1_000_000 {
        stream.write_all(&block).expect("send");
    }
    // The reader has everything when it answers.
    stream.read_exact(&mut [0]).expect("answer");
    println!("@done {bytes}");
    wait();
}

/// Children one after another, each of which burns, lingers (long enough to be sampled) and exits.
fn parent(children: u64, milliseconds: u64) {
    ready();
    let start = cpu_ns();
    let mut used = 0;
    for _ in 0..children {
        let mut child = command("burn-and-exit", &milliseconds.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("child");
        let mut text = String::new();
        let mut output = child.stdout.take().expect("output");
        output.read_to_string(&mut text).expect("output");
        // Where SIGCHLD is ignored there is nothing to wait for.
        let _ = child.wait();
        let (_, after) = text.split_once("@done ").expect("count");
        let count = after.split_whitespace().next().expect("count");
        used += count.parse::<u64>().expect("a number");
    }
    println!("@done {}", used + cpu_ns() - start);
    wait();
}

/// Maps the file, shared, and touches every page of it.
#[expect(
    unsafe_code,
    reason = "there is no safe way to share memory between processes, and that is what is tested"
)]
fn map(path: &Path) {
    use std::os::fd::AsRawFd;
    ready();
    let file = std::fs::File::options().read(true).write(true).open(path).expect("open");
    let length = usize::try_from(file.metadata().expect("metadata").len()).expect("size");
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping of a file that nobody shortens while the test runs; it is never unmapped.
    let start = unsafe {
        libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_ne!(start, libc::MAP_FAILED);
    for offset in (0..length).step_by(4096) {
        // SAFETY: within the mapping, and bytes have no invalid values.
        unsafe { start.cast::<u8>().add(offset).write_volatile(1) };
    }
    println!("@done {length}");
    wait();
}

/// Many processes that map the same file.
fn maps(path: &str, processes: u64) {
    let mut loads: Vec<Load> = (0..processes).map(|_| Load::start("map", path)).collect();
    ready();
    loads.iter_mut().for_each(Load::go);
    let touched: u64 = loads.iter_mut().map(Load::done).sum();
    println!("@done {touched}");
    wait();
    loads.into_iter().for_each(Load::end);
}
