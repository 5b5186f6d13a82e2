//! Hosts as network namespaces: a hub with the coordinator and the server, and hosts with an sshd each. All of it is made by a test and removed with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SSHD: &str = "/usr/sbin/sshd";
/// The network of the hub's bridge.
const NETWORK: &str = "10.77.19";

/// What a server runs as.
const NOBODY: [&str; 4] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
];

/// A hub and hosts around it.
pub struct Network {
    folder: PathBuf,
    names: Vec<String>,
    daemons: Vec<Child>,
}

fn run(words: &[&str]) -> Result<(), String> {
    let output = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", words.join(" "), said.trim()))
}

impl Network {
    /// A hub and a host of each of these names.
    ///
    /// # Errors
    /// Why there can be none here.
    pub fn new(folder: &Path, hosts: &[&str]) -> Result<Self, String> {
        if !Path::new(SSHD).exists() {
            return Err("no sshd is installed".to_owned());
        }
        let mark = std::process::id();
        let mut network = Self {
            folder: folder.to_owned(),
            names: Vec::new(),
            daemons: Vec::new(),
        };
        let hub = format!("sm{mark}hub");
        network
            .namespace(&hub)
            .map_err(|why| format!("no network namespaces here: {why}"))?;
        run(&["ip", "-n", &hub, "link", "add", "bridge", "type", "bridge"])?;
        run(&[
            "ip",
            "-n",
            &hub,
            "addr",
            "add",
            &format!("{NETWORK}.1/24"),
            "dev",
            "bridge",
        ])?;
        run(&["ip", "-n", &hub, "link", "set", "bridge", "up"])?;
        network.keys()?;
        for (number, host) in (2..).zip(hosts) {
            let name = format!("sm{mark}{host}");
            network.namespace(&name)?;
            run(&[
                "ip", "-n", &hub, "link", "add", host, "type", "veth", "peer", "name", "eth0",
                "netns", &name,
            ])?;
            run(&[
                "ip", "-n", &hub, "link", "set", host, "master", "bridge", "up",
            ])?;
            run(&[
                "ip",
                "-n",
                &name,
                "addr",
                "add",
                &format!("{NETWORK}.{number}/24"),
                "dev",
                "eth0",
            ])?;
            run(&["ip", "-n", &name, "link", "set", "eth0", "up"])?;
            network.serve(&name, host, number)?;
        }
        Ok(network)
    }

    fn namespace(&mut self, name: &str) -> Result<(), String> {
        run(&["ip", "netns", "add", name])?;
        self.names.push(name.to_owned());
        run(&["ip", "-n", name, "link", "set", "lo", "up"])
    }

    /// Keys of hosts and user, and an empty configuration of the client.
    fn keys(&self) -> Result<(), String> {
        // sshd wants this folder to be there; it is empty.
        fs::create_dir_all("/run/sshd").map_err(|error| error.to_string())?;
        for key in ["host", "user"] {
            let path = self.path(key);
            run(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path])?;
        }
        fs::copy(self.path("user.pub"), self.path("authorized"))
            .map_err(|error| error.to_string())?;
        fs::write(self.path("config"), "").map_err(|error| error.to_string())
    }

    /// Starts a host's sshd, and tells the client how it is reached.
    fn serve(&mut self, name: &str, host: &str, number: u32) -> Result<(), String> {
        let address = format!("{NETWORK}.{number}");
        let daemon = self.path(&format!("sshd-{host}"));
        let text = format!(
            "ListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n",
            self.path("host"),
            self.path("authorized"),
        );
        fs::write(&daemon, text).map_err(|error| error.to_string())?;
        let key = fs::read_to_string(self.path("host.pub")).map_err(|error| error.to_string())?;
        let (known, config) = (self.path("known"), self.path("config"));
        let append = |path: &str, text: String| {
            let old = fs::read_to_string(path).unwrap_or_default();
            fs::write(path, old + &text).map_err(|error| error.to_string())
        };
        append(&known, format!("{address} {key}"))?;
        append(
            &config,
            format!(
                "Host {host}\n  HostName {address}\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n  StrictHostKeyChecking yes\n",
                self.path("user")
            ),
        )?;
        let log = fs::File::create(self.path(&format!("log-{host}")))
            .map_err(|error| error.to_string())?;
        let started = Command::new("ip")
            .args(["netns", "exec", name, SSHD, "-D", "-e", "-f", &daemon])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.daemons
            .push(started.map_err(|error| error.to_string())?);
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let asked = run(&[
                "ip",
                "netns",
                "exec",
                &self.names[0],
                "ssh",
                "-F",
                &config,
                "-o",
                "BatchMode=yes",
                host,
                "true",
            ]);
            match asked {
                Ok(()) => return Ok(()),
                Err(why) if Instant::now() > deadline => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// The hub's namespace.
    pub fn hub(&self) -> &str {
        &self.names[0]
    }

    /// The launcher that reaches a host by its name.
    pub fn launcher(&self) -> String {
        format!("ssh -F {} {{host}}", self.path("config"))
    }

    /// Starts PostgreSQL on the hub's address. Gives its URL.
    pub fn postgresql(&mut self) -> Result<String, String> {
        let text = |error: std::io::Error| error.to_string();
        let data = self.database()?;
        let server = format!("{}/postgres", programs()?);
        let host = format!("{NETWORK}.1");
        let address = format!("listen_addresses={host}");
        let place = ["netns", "exec", self.hub()];
        let options = [
            "-D",
            &data,
            "-c",
            &address,
            "-c",
            "unix_socket_directories=",
        ];
        let log = fs::File::create(self.path("log-postgresql")).map_err(text)?;
        let started = Command::new("ip")
            .args(place)
            .args(NOBODY)
            .arg(&server)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.daemons.push(started.map_err(text)?);
        let deadline = Instant::now() + Duration::from_secs(20);
        let hub = self.hub().to_owned();
        loop {
            match run(&["ip", "netns", "exec", &hub, "pg_isready", "-q", "-h", &host]) {
                Ok(()) => return Ok(format!("postgresql://sensor@{host}:5432/")),
                Err(why) if Instant::now() > deadline => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Makes PostgreSQL's folder, which the network's hosts have access to. Gives it.
    fn database(&self) -> Result<String, String> {
        let text = |error: std::io::Error| error.to_string();
        let data = self.path("postgresql");
        fs::create_dir(&data).map_err(text)?;
        std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).map_err(text)?;
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).map_err(text)?;
        let initdb = format!("{}/initdb", programs()?);
        let options = ["-U", "sensor", "--auth=trust", "--no-sync", "-E", "UTF8"];
        run(&[&NOBODY[..], &[&initdb, "-D", &data], &options].concat())?;
        let access = format!("host all all {NETWORK}.0/24 trust\n");
        fs::write(format!("{data}/pg_hba.conf"), access).map_err(text)?;
        Ok(data)
    }
}

/// The folder of PostgreSQL's programs.
fn programs() -> Result<String, String> {
    let output = Command::new("pg_config").arg("--bindir").output();
    let output = output.map_err(|error| format!("pg_config: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Drop for Network {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            // `ip netns exec` becomes the daemon: its id is the daemon's. SIGTERM ends a server with its processes.
            drop(Command::new("kill").arg(daemon.id().to_string()).status());
            drop(daemon.wait());
        }
        for name in &self.names {
            drop(run(&["ip", "netns", "del", name]));
        }
    }
}
