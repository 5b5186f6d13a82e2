//! Hosts as network namespaces: a hub with the coordinator, and hosts with an sshd each, one of which has the server. Each host has a boot of its own, as far as the
//! program can see. All of it is made by a test and removed with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const SSHD: &str = "/usr/sbin/sshd";
/// The network of the hub's bridge.
const NETWORK: &str = "10.77.19";
/// Gives the host the boot id of this file, and becomes its sshd.
const BOOT: &str = r#"mount --bind "$1" /proc/sys/kernel/random/boot_id && exec "$2" -D -e -f "$3""#;

/// What a server runs as.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// A hub and hosts around it.
pub struct Network {
    folder: PathBuf,
    /// Their namespaces, the hub's first.
    names: Vec<String>,
    hosts: Vec<String>,
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
        // Several tests of one process have a network each.
        static NETWORKS: AtomicU32 = AtomicU32::new(0);
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}n{number}", std::process::id());
        let mut network = Self {
            folder: folder.to_owned(),
            names: Vec::new(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            daemons: Vec::new(),
        };
        let hub = format!("sm{mark}hub");
        network.namespace(&hub).map_err(|why| format!("no network namespaces here: {why}"))?;
        run(&["ip", "-n", &hub, "link", "add", "bridge", "type", "bridge"])?;
        run(&["ip", "-n", &hub, "addr", "add", &format!("{NETWORK}.1/24"), "dev", "bridge"])?;
        run(&["ip", "-n", &hub, "link", "set", "bridge", "up"])?;
        network.keys()?;
        for (number, host) in (2..).zip(hosts) {
            let name = format!("sm{mark}{host}");
            network.namespace(&name)?;
            run(&[
                "ip", "-n", &hub, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", &name,
            ])?;
            run(&["ip", "-n", &hub, "link", "set", host, "master", "bridge", "up"])?;
            run(&["ip", "-n", &name, "addr", "add", &format!("{NETWORK}.{number}/24"), "dev", "eth0"])?;
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
        fs::copy(self.path("user.pub"), self.path("authorized")).map_err(|error| error.to_string())?;
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
        let log = fs::File::create(self.path(&format!("log-{host}"))).map_err(|error| error.to_string())?;
        let boot = self.path(&format!("boot-{host}"));
        let id = format!("00000000-0000-4000-8000-{number:012}\n");
        fs::write(&boot, id).map_err(|error| error.to_string())?;
        let place = ["netns", "exec", name, "sh", "-c", BOOT, "sh"];
        let started = Command::new("ip")
            .args(place)
            .args([boot.as_str(), SSHD, &daemon])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.daemons.push(started.map_err(|error| error.to_string())?);
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

    /// The address of a host.
    pub fn address(&self, host: &str) -> String {
        self.place(host).1
    }

    /// The namespace and the address of a host.
    fn place(&self, host: &str) -> (String, String) {
        let number = self.hosts.iter().position(|one| one == host);
        let number = number.expect("a host of the network");
        (self.names[number + 1].clone(), format!("{NETWORK}.{}", number + 2))
    }

    /// Starts PostgreSQL on a host. Its user is `sensor`, with this password. Gives its URL and its folder. One that does not start is a failure of the test.
    pub fn postgresql(&mut self, on: &str, password: &str) -> (String, String) {
        let data = self.database(password).expect("a folder for PostgreSQL");
        let server = format!("{}/postgres", programs().expect("PostgreSQL is there"));
        let (namespace, host) = self.place(on);
        let address = format!("listen_addresses={host}");
        let options = ["-D", &data, "-c", &address, "-c", "unix_socket_directories="];
        let log = self.path("log-postgresql");
        let started = Command::new("ip")
            .args(["netns", "exec", &namespace])
            .args(NOBODY)
            .arg(&server)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).expect("room"))
            .spawn();
        self.daemons.push(started.expect("it starts"));
        let deadline = Instant::now() + Duration::from_secs(60);
        let hub = self.hub().to_owned();
        loop {
            match run(&["ip", "netns", "exec", &hub, "pg_isready", "-q", "-h", &host]) {
                Ok(()) => return (format!("postgresql://sensor:{password}@{host}:5432/"), data),
                Err(why) if Instant::now() > deadline => {
                    let said = fs::read_to_string(&log).unwrap_or_default();
                    panic!("PostgreSQL does not answer: {why}: {said}");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Makes PostgreSQL's folder, to which the network's hosts have access by password. Gives it.
    fn database(&self, password: &str) -> Result<String, String> {
        let text = |error: std::io::Error| error.to_string();
        let data = self.path("postgresql");
        fs::create_dir(&data).map_err(text)?;
        std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).map_err(text)?;
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).map_err(text)?;
        let file = self.path("postgresql-password");
        fs::write(&file, password).map_err(text)?;
        std::os::unix::fs::chown(&file, Some(65_534), Some(65_534)).map_err(text)?;
        let initdb = format!("{}/initdb", programs()?);
        let file_option = format!("--pwfile={file}");
        let options = ["-U", "sensor", "--auth=scram-sha-256", "--no-sync", "-E", "UTF8"];
        run(&[&NOBODY[..], &[&initdb, "-D", &data, &file_option], &options].concat())?;
        fs::remove_file(&file).map_err(text)?;
        let access = format!("host all all {NETWORK}.0/24 scram-sha-256\n");
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
