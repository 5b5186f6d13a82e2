//! Slurm for real: a controller and four nodes on this machine, with keys, ports and folders of their own. A test starts them and ends them. No file and no
//! service of the system takes part.

use crate::existing_server::Running;
use crate::support::{Place, said};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sensormark");
/// Four load hosts by the preset.
const LOAD_HOSTS: [&str; 4] =
    ["--host-program", PROGRAM, "--load-hosts", "slurm:node1,slurm:node2,slurm:node3,slurm:node4"];
/// Small numbers of devops: a second or two.
const SMALL: [&str; 10] = [
    "hosts=8",
    "hours=0.25",
    "more_hours=0.5",
    "workers=4",
    "clients=4",
    "queries=8",
    "batch=60",
    "several_hosts=3",
    "query_seconds=0",
    "live_seconds=0",
];
/// A load of minutes.
const LONG: [&str; 6] = ["hosts=40", "hours=24", "more_hours=25", "workers=4", "clients=4", "batch=20"];
/// How many clusters tests have started.
static CLUSTERS: AtomicU32 = AtomicU32::new(0);
/// How long a daemon may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A cluster of four nodes, removed at its end.
struct Slurm {
    folder: PathBuf,
    /// Its name, which each process that it started has in its environment.
    name: String,
    daemons: Vec<Child>,
}

impl Slurm {
    /// A cluster with its files in this folder.
    ///
    /// # Errors
    /// Why there can be none here.
    fn start(folder: &Path) -> Result<Self, String> {
        for program in ["munged", "slurmctld", "slurmd", "srun"] {
            let found = ["/usr/sbin", "/usr/bin"].map(|place| Path::new(place).join(program));
            if !found.iter().any(|path| path.exists()) {
                return Err(format!("Slurm's {program} is not installed"));
            }
        }
        if !rustix::process::geteuid().is_root() {
            return Err("only root starts Slurm's daemons".to_owned());
        }
        let mut slurm = Self {
            folder: folder.to_owned(),
            // Two tests may each have a cluster at the same time.
            name: format!("sensormark{}x{}", std::process::id(), CLUSTERS.fetch_add(1, Ordering::Relaxed)),
            daemons: Vec::new(),
        };
        slurm.configure().map_err(|error| error.to_string())?;
        slurm.authenticate()?;
        slurm.daemon("slurmctld", &["-D", "-c"])?;
        for node in 1..=4 {
            let name = format!("node{node}");
            slurm.daemon("slurmd", &["-D", "-N", &name])?;
        }
        let idle = || {
            let nodes = slurm.ask("sinfo", &["-hNo", "%N %T"]);
            nodes.lines().filter(|line| line.ends_with(" idle")).count()
        };
        slurm.wait_for("its nodes are not ready", || idle() == 4)?;
        Ok(slurm)
    }

    /// Writes its configuration, with free ports.
    fn configure(&self) -> std::io::Result<()> {
        for folder in ["munge", "state", "spool"] {
            fs::create_dir(self.folder.join(folder))?;
        }
        let mut key = [0; 1024];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut key)?;
        fs::write(self.path("munge/key"), key)?;
        fs::set_permissions(self.path("munge/key"), PermissionsExt::from_mode(0o600))?;
        // All are held until all are known, so that none is given twice.
        let held: Vec<TcpListener> =
            (0..5).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
        let ports: Vec<u16> =
            held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<std::io::Result<_>>()?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let host = host.trim().split('.').next().unwrap_or_default();
        let mut text = format!(
            "ClusterName={name}\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\n\
             SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n\
             AuthInfo=socket={folder}/munge/socket\nStateSaveLocation={folder}/state\n\
             SlurmdSpoolDir={folder}/spool/%n\nSlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n\
             SlurmdParameters=config_overrides\nMailProg=/bin/true\nKillWait=2\n",
            name = self.name,
            port = ports[0],
            folder = self.folder.display(),
        );
        for (node, port) in (1..).zip(&ports[1..]) {
            text += &format!(
                "NodeName=node{node} NodeHostname=node{node} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=100\n"
            );
        }
        text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        fs::write(self.path("slurm.conf"), text)
    }

    /// Starts the daemon that vouches for users, with a key of its own.
    fn authenticate(&mut self) -> Result<(), String> {
        let socket = format!("--socket={}", self.path("munge/socket"));
        let files = [("key", "key"), ("pid", "pid"), ("log", "log"), ("seed", "seed")];
        let files = files.map(|(option, name)| {
            let path = self.path(&format!("munge/{name}"));
            format!("--{option}-file={path}")
        });
        let mut words = vec!["-F", &socket];
        words.extend(files.iter().map(String::as_str));
        self.daemon("munged", &words)?;
        let socket = self.path("munge/socket");
        self.wait_for("munged does not answer", || Path::new(&socket).exists())
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("UTF-8").to_owned()
    }

    fn daemon(&mut self, program: &str, words: &[&str]) -> Result<(), String> {
        let log = self.path(&format!("{program}-{}.log", self.daemons.len()));
        let log = fs::File::create(log).map_err(|error| error.to_string())?;
        let started = Command::new(program)
            .args(words)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let started = started.map_err(|error| format!("{program}: {error}"))?;
        self.daemons.push(started);
        Ok(())
    }

    /// What one of Slurm's commands prints.
    fn ask(&self, program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).env("SLURM_CONF", self.path("slurm.conf")).output();
        let output = output.map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).into_owned()
    }

    fn wait_for(&self, otherwise: &str, is_there: impl Fn() -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !is_there() {
            if Instant::now() > deadline {
                let last = |daemon: usize, program: &str| {
                    let log = self.path(&format!("{program}-{daemon}.log"));
                    let text = fs::read_to_string(log).unwrap_or_default();
                    text.lines().last().unwrap_or_default().to_owned()
                };
                let said = last(1, "slurmctld");
                return Err(format!("Slurm does not start here: {otherwise}: {said}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// The program with these arguments in this place, with this cluster for `srun`.
    fn run(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = place.command(arguments);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    /// Processes that this cluster started: of one node, or of all.
    fn tasks(&self, node: Option<&str>) -> Vec<u32> {
        let cluster = format!("SLURM_CLUSTER_NAME={}", self.name);
        let node = node.map(|node| format!("SLURMD_NODENAME={node}"));
        let folders = fs::read_dir("/proc").expect("processes").flatten();
        let ids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let has = |mark: &str| {
                let mut all = environment.split(|byte| *byte == 0);
                all.any(|one| one == mark.as_bytes())
            };
            has(&cluster) && node.as_ref().is_none_or(|node| has(node))
        };
        ids.filter(is_ours).collect()
    }

    /// Those of them that are roles; the others are the probes beside them.
    fn roles(&self, node: Option<&str>) -> Vec<u32> {
        let is_role = |id: &u32| {
            let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == b"role")
        };
        self.tasks(node).into_iter().filter(is_role).collect()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.ask("scancel", &["--user=root"]);
        // The nodes first, so that none of them waits for its controller.
        for daemon in self.daemons.iter_mut().rev() {
            drop(Command::new("kill").arg(daemon.id().to_string()).status());
            drop(daemon.wait());
        }
    }
}

/// A cluster in a place of its own.
fn cluster(place: &Place) -> Result<Slurm, String> {
    let folder = place.path().join("slurm");
    fs::create_dir(&folder).expect("room");
    Slurm::start(&folder)
}

/// The arguments of a run of devops with these numbers.
fn devops<'a>(settings: &[&'a str], further: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["run", "devops", "--results", "results"];
    words.extend(["--tolerate-disturbance", "--progress=plain", "--full"]);
    for setting in settings {
        words.extend(["--set", setting]);
    }
    words.extend(further);
    words
}

/// The one trial of the run in this place.
fn trial(place: &Place, output: &Output) -> Value {
    let mut trials = place.trials();
    assert_eq!(trials.len(), 1, "{}", said(output));
    trials.remove(0)
}

/// Four load hosts by `srun` leave what one process leaves.
pub fn four_load_hosts() -> Option<String> {
    let (one, four) = (Place::new(), Place::new());
    let slurm = match cluster(&four) {
        Ok(slurm) => slurm,
        Err(why) => return Some(why),
    };
    let server = Running::start(&one);
    let on = format!("postgresql:individual={}", server.url);
    // Time enough for both sizes on a busy machine.
    let common = ["--budget", "10m", "--on", &on];
    let alone = one.measure("devops", &SMALL, &common);
    let words = devops(&SMALL, &[&common[..], &LOAD_HOSTS].concat());
    let spread = slurm.run(&four, &words).output().expect("it starts");
    let (first, second) = (trial(&one, &alone), trial(&four, &spread));
    assert!(first["ledger"]["stored"].as_u64() > Some(1_000), "{}", said(&alone));
    assert_eq!(first["ledger"]["lost"], 0, "{}", said(&alone));
    assert_eq!(first["ledger"], second["ledger"], "{}", said(&spread));
    let answers = |trial: &Value| ["checked", "wrong"].map(|name| trial["answers"][name].clone());
    assert_eq!(answers(&first), answers(&second), "{}", said(&spread));
    let clocks = second["clocks"].as_array().expect("clocks");
    for host in ["node1", "node2", "node3", "node4"] {
        let knows = clocks.iter().any(|clock| clock["host"] == host);
        assert!(knows, "{host}: {}", said(&spread));
    }
    ends(&slurm);
    None
}

/// Nothing that the cluster started is left, and no job of it.
fn ends(slurm: &Slurm) {
    let deadline = Instant::now() + PATIENCE;
    let left = || (slurm.tasks(None), slurm.ask("squeue", &["-h"]));
    while left() != (Vec::new(), String::new()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(left(), (Vec::new(), String::new()), "left running");
}

/// A role that is killed on its node in mid-load ends the trial, which names the node. Nothing is left on the others.
pub fn a_lost_node() -> Option<String> {
    let place = Place::new();
    let slurm = match cluster(&place) {
        Ok(slurm) => slurm,
        Err(why) => return Some(why),
    };
    let server = Running::start(&place);
    let on = format!("postgresql:individual={}", server.url);
    let words = devops(&LONG, &[&["--on", &on][..], &LOAD_HOSTS].concat());
    let running = slurm
        .run(&place, &words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_for_load(&slurm, &server);
    // A role that starts a program looks like two until that is there.
    let lost = slurm.roles(Some("node3"));
    assert!(!lost.is_empty(), "the role of node3 is not at work");
    let killed = Command::new("kill").arg("-9").args(lost.iter().map(u32::to_string)).status();
    killed.expect("kill");
    let begun = Instant::now();
    let output = running.wait_with_output().expect("it ends");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let verdict = trial(&place, &output)["verdict"].to_string();
    for words in ["process on node3 ended early", "Killed"] {
        assert!(verdict.contains(words), "{verdict} {}", said(&output));
    }
    ends(&slurm);
    let databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'";
    assert_eq!(server.sql("postgres", databases), "0\n", "{}", said(&output));
    None
}

/// Waits until four roles write, and a while longer.
fn wait_for_load(slurm: &Slurm, server: &Running<'_>) {
    let writing = "SELECT count(*) FROM pg_stat_activity WHERE datname LIKE 'sensormark%' AND (query ILIKE 'insert%' OR query ILIKE 'copy%')";
    let goes = || {
        let clients = server.sql("postgres", writing);
        slurm.roles(None).len() == 4 && clients.trim().parse::<u32>().is_ok_and(|all| all >= 4)
    };
    let deadline = Instant::now() + Duration::from_secs(120);
    while !goes() {
        assert!(Instant::now() < deadline, "the load does not start");
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(1));
}
