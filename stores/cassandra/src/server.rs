//! The server on this machine: its jars, a Java to run them, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. The server listens on 127.0.0.1 alone. Its first account has a known
//! password until [`set_up_accounts`] replaces it, right after the start.

use crate::config::Options;
use crate::connection::Link;
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{
    Durability, Endpoint, ErrorKind, Installation, Launch, Secret, ServerOptions, StoreError,
};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Modules of Java that Cassandra and nodetool look into.
const OPENINGS: [&str; 20] = [
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED",
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-exports=java.rmi/sun.rmi.server=ALL-UNNAMED",
    "--add-exports=java.sql/java.sql=ALL-UNNAMED",
    "--add-exports=java.base/java.lang.ref=ALL-UNNAMED",
    "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.module=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.loader=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.math=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.module=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.util.jar=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
];

/// Java's options that Cassandra is proven with.
const JAVA: [&str; 14] = [
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Xss256k",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=300",
    "-XX:+ParallelRefProcEnabled",
    "-XX:+PerfDisableSharedMem",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
    "-Djdk.attach.allowAttachSelf=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
    "-Djava.rmi.server.hostname=127.0.0.1",
];

/// What makes one node on loopback start at once.
const ALONE: [&str; 7] = [
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.ring_delay_ms=0",
    "-Dcassandra.shutdown_announce_in_ms=0",
    "-Dcassandra.load_ring_state=false",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4",
    "-Dcassandra-foreground=yes",
];

/// Settings that do not depend on anything.
const FIXED: &str = "cluster_name: sensormark
num_tokens: 1
initial_token: \"0\"
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
start_native_transport: true
auto_bootstrap: false
cdc_enabled: false
hinted_handoff_enabled: false
authenticator: PasswordAuthenticator
authorizer: AllowAllAuthorizer
commitlog_segment_size: 32MiB
commitlog_total_space: 1GiB
memtable:
  configurations:
    skiplist: {class_name: SkipListMemtable}
    default: {inherits: skiplist}
memtable_allocation_type: heap_buffers
file_cache_enabled: false
networking_cache_size: 32MiB
concurrent_reads: 16
concurrent_writes: 32
concurrent_compactors: 2
compaction_throughput: 64MiB/s
read_request_timeout: 60s
range_request_timeout: 120s
write_request_timeout: 60s
request_timeout: 120s
native_transport_timeout: 120s
batch_size_warn_threshold: 4096KiB
batch_size_fail_threshold: 16MiB
sstable:
  selected_format: big
column_index_size: 4KiB
auto_snapshot: false
incremental_backups: false
snapshot_before_compaction: false
user_defined_functions_enabled: false
materialized_views_enabled: false
disk_failure_policy: stop
commit_failure_policy: stop
inter_dc_tcp_nodelay: false
";

/// Messages go to standard error, from where the supervisor quotes them.
const LOGGING: &str = "<configuration>
  <appender name=\"E\" class=\"ch.qos.logback.core.ConsoleAppender\"><target>System.err</target><encoder><pattern>%d{ISO8601} %-5level %logger{0} %msg%n</pattern></encoder></appender>
  <root level=\"WARN\"><appender-ref ref=\"E\"/></root>
</configuration>
";

/// Finds the server's jars.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let mut folders: Vec<(PathBuf, &str)> = Vec::new();
    if let Some(home) = std::env::var_os("SENSORMARK_CASSANDRA_HOME") {
        let home = PathBuf::from(home);
        folders.push((home.join("lib"), "SENSORMARK_CASSANDRA_HOME"));
        folders.push((home, "SENSORMARK_CASSANDRA_HOME"));
    }
    if let Some(servers) = std::env::var_os("SENSORMARK_SERVERS") {
        let folder = PathBuf::from(servers).join("cassandra/lib");
        folders.push((folder, "SENSORMARK_SERVERS"));
    }
    for (folder, origin) in [
        (
            "/opt/sensormark/servers/cassandra/lib",
            "installed by sensormark",
        ),
        ("/usr/share/cassandra", "system package"),
        ("/opt/cassandra/lib", "usual place"),
        ("/usr/local/cassandra/lib", "usual place"),
    ] {
        folders.push((PathBuf::from(folder), origin));
    }
    for (folder, origin) in folders {
        if let Some(version) = version_of(&folder) {
            find_java()?;
            return Ok(Installation {
                path: folder,
                version,
                origin: origin.to_owned(),
            });
        }
    }
    Err(StoreError::new(
        ErrorKind::NotInstalled,
        "find the Cassandra server",
        "neither $SENSORMARK_CASSANDRA_HOME/lib nor $SENSORMARK_SERVERS/cassandra/lib nor a usual place holds its jars; install it with scripts/install-servers.sh cassandra",
    ))
}

/// The version in the name of the server's jar, where the folder holds it and the agent that measures objects.
fn version_of(folder: &Path) -> Option<String> {
    jar(folder, "jamm-")?;
    let of = |prefix| Some((prefix, jar(folder, prefix)?));
    let (prefix, path) = of("cassandra-all-").or_else(|| of("apache-cassandra-"))?;
    let name = path.file_stem()?.to_str()?;
    name.strip_prefix(prefix).map(str::to_owned)
}

/// The jar whose name is this and a version.
fn jar(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(prefix));
            rest.is_some_and(|rest| {
                rest.ends_with(".jar") && rest.starts_with(|c: char| c.is_ascii_digit())
            })
        })
        .collect();
    found.sort();
    found.pop()
}

/// A Java that Cassandra runs on.
fn find_java() -> Result<PathBuf, StoreError> {
    let mut programs = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        programs.push(PathBuf::from(home).join("bin/java"));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    programs.extend(std::env::split_paths(&path).map(|folder| folder.join("java")));
    if let Ok(entries) = fs::read_dir("/usr/lib/jvm") {
        let mut homes: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        homes.sort();
        programs.extend(homes.into_iter().map(|home| home.join("bin/java")));
    }
    let fits =
        |program: &PathBuf| program.is_file() && matches!(java_version(program), Some(17 | 11));
    programs.into_iter().find(fits).ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find Java for Cassandra",
            "Cassandra needs Java 17 or 11, and neither $JAVA_HOME nor PATH nor /usr/lib/jvm has one; install openjdk-17-jre-headless",
        )
    })
}

/// The first number of a Java's version: read from the file beside it, or else asked for.
fn java_version(program: &Path) -> Option<u32> {
    let real = fs::canonicalize(program).ok()?;
    let release = real.parent()?.parent()?.join("release");
    let text = match fs::read_to_string(release) {
        Ok(text) if text.contains("JAVA_VERSION=") => {
            text.split("JAVA_VERSION=").nth(1)?.to_owned()
        }
        _ => {
            let output = std::process::Command::new(program)
                .arg("-version")
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            text.split("version ").nth(1)?.to_owned()
        }
    };
    let digits = text.trim_start_matches('"');
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

fn openings() -> impl Iterator<Item = String> {
    OPENINGS
        .iter()
        .chain(&JAVA[..1])
        .map(|&text| text.to_owned())
}

/// How the memory asked for is divided, in MiB.
struct Memory {
    heap: u64,
    direct: u64,
    memtable: u64,
}

impl Memory {
    fn new(options: &ServerOptions) -> Result<Self, StoreError> {
        let divided = |heap: u64| Self {
            heap,
            direct: (heap / 2).max(128),
            memtable: heap / 4,
        };
        match options.profile.as_deref() {
            None => Ok(divided((options.memory_bytes >> 20).max(384))),
            Some(other) => Err(StoreError::new(
                ErrorKind::Configuration,
                "configure a Cassandra server",
                format!("there is no profile {other:?} of settings for Cassandra; leave it out"),
            )),
        }
    }
}

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let memory = Memory::new(options)?;
    let java = find_java()?;
    let agent = jar(&installation.path, "jamm-").ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find jamm",
            format!("its jar is not in {}", installation.path.display()),
        )
    })?;
    let yaml = configuration(folder, options.durability, &memory)?;
    write_file(folder, "cassandra.yaml", &yaml)?;
    write_file(folder, "logback.xml", LOGGING)?;
    let jmx = folder.ports[2];
    Ok(Launch {
        before: Vec::new(),
        server: Command {
            program: java,
            arguments: arguments(&installation.path, &agent, folder, &memory),
            ..Command::default()
        },
        after: Vec::new(),
        endpoint: Endpoint {
            url: Secret::new(format!(
                "cassandra://sensormark:{}@127.0.0.1:{}/?jmx={jmx}",
                folder.password.expose(),
                folder.ports[0]
            )),
            label: "cassandra (started by sensormark)".to_owned(),
            managed: true,
            ports: vec![folder.ports[0]],
        },
        stop: StopSignal::Terminate,
        start_seconds: 120,
        log_paths: vec!["commitlog".to_owned()],
        notes: notes(&memory),
    })
}

fn notes(memory: &Memory) -> Vec<String> {
    vec![
        format!(
            "heap {} MiB (the memory asked for), direct memory up to {} MiB, memtables {} MiB; Java itself takes 200 to 300 MiB beside them",
            memory.heap, memory.direct, memory.memtable
        ),
        "batch_size_fail_threshold 16 MiB (50 KiB as it comes), for batches of 1,000 readings"
            .to_owned(),
        "one node with one token, gc_grace_seconds 0 on tables of readings, no snapshots"
            .to_owned(),
        "management (JMX) listens on loopback without a password, for nodetool flush".to_owned(),
    ]
}

fn arguments(jars: &Path, agent: &Path, folder: &ServerFolder, memory: &Memory) -> Vec<String> {
    let root = folder.root.display();
    let mut arguments: Vec<String> = openings().collect();
    arguments.extend(JAVA[1..].iter().chain(&ALONE).map(|&text| text.to_owned()));
    arguments.extend([
        format!("-Xms{}M", memory.heap),
        format!("-Xmx{}M", memory.heap),
        format!("-XX:MaxDirectMemorySize={}M", memory.direct),
        format!("-javaagent:{}", agent.display()),
        format!("-Dcassandra.config=file://{root}/cassandra.yaml"),
        format!("-Dlogback.configurationFile={root}/logback.xml"),
        format!("-Dcassandra.storagedir={root}"),
        format!("-Dcassandra.logdir={root}"),
        format!("-Dcassandra.jmx.local.port={}", folder.ports[2]),
        format!("-Djava.io.tmpdir={root}"),
        format!("-Djna.tmpdir={root}"),
        "-cp".to_owned(),
        format!("{root}:{}/*", jars.display()),
        "org.apache.cassandra.service.CassandraDaemon".to_owned(),
    ]);
    arguments
}

fn configuration(
    folder: &ServerFolder,
    durability: Durability,
    memory: &Memory,
) -> Result<String, StoreError> {
    let sync = match durability {
        Durability::Default | Durability::Relaxed => {
            "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n"
        }
        Durability::Durable => "commitlog_sync: batch\n",
        Durability::Unacknowledged => {
            return Err(StoreError::unsupported(
                "configure a Cassandra server",
                "Cassandra acknowledges every write",
            ));
        }
    };
    let (data, [native, storage, ..]) = (folder.data.display(), folder.ports);
    let memtable = memory.memtable;
    Ok(format!(
        "{FIXED}{sync}memtable_heap_space: {memtable}MiB
memtable_offheap_space: {memtable}MiB
native_transport_port: {native}
storage_port: {storage}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: \"127.0.0.1:{storage}\"
data_file_directories: ['{data}/data']
commitlog_directory: '{data}/commitlog'
saved_caches_directory: '{data}/saved_caches'
hints_directory: '{data}/hints'
cdc_raw_directory: '{data}/cdc_raw'
"
    ))
}

/// Replaces the server's first account, whose password is known, by our own.
pub(crate) async fn set_up_accounts(
    options: &Options,
    patience: Duration,
) -> Result<(), StoreError> {
    let Some((user, password)) = &options.user else {
        return Ok(());
    };
    let mut first = options.clone();
    first.user = Some(("cassandra".to_owned(), Secret::new("cassandra")));
    let link = Link::open(&first, patience).await?;
    // the generated password is of letters and digits
    let create = format!(
        "CREATE ROLE IF NOT EXISTS {user} WITH PASSWORD = '{}' AND LOGIN = true AND SUPERUSER = true",
        password.expose()
    );
    link.run("set up an account", &create).await?;
    drop(link);
    let link = Link::open(options, patience).await?;
    link.run("remove the first account", "DROP ROLE IF EXISTS cassandra")
        .await?;
    Ok(())
}

/// Runs nodetool against a server of our own, and gives what it prints.
pub(crate) async fn nodetool(
    port: u16,
    command: &[&str],
    patience: Duration,
) -> Result<String, StoreError> {
    let jars = installation()?.path;
    let operation = format!("run nodetool {}", command.join(" "));
    let failed =
        |context: String| StoreError::new(ErrorKind::Rejected, operation.as_str(), context);
    let mut child = std::process::Command::new(find_java()?)
        .args(openings())
        .args(["-Xmx64M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
        .arg("-cp")
        .arg(format!("{}/*", jars.display()))
        .arg("org.apache.cassandra.tools.NodeTool")
        .args(["-h", "127.0.0.1", "-p", &port.to_string()])
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("Java does not start: {error}")))?;
    let mut output = child.stdout.take();
    let reading = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        let read = output
            .as_mut()
            .map(|output| output.read_to_string(&mut text));
        read.transpose().map(|_| text)
    });
    let start = Instant::now();
    let status = loop {
        let waited = child.try_wait();
        match waited.map_err(|error| failed(error.to_string()))? {
            Some(status) => break status,
            None if start.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(crate::error::timeout(
                    &operation,
                    patience.as_millis(),
                    true,
                ));
            }
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let text = reading.await.map_err(|error| failed(error.to_string()))?;
    let text = text.map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(text);
    }
    Err(failed(format!("it ends with {status}: {}", text.trim())))
}

/// Writes a file that its folder's owner alone can read.
fn write_file(folder: &ServerFolder, name: &str, text: &str) -> Result<(), StoreError> {
    let path = folder.join(name);
    let write = || {
        // A file of an earlier start is replaced, never written through.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(text.as_bytes())?;
        let owner = fs::metadata(&folder.root)?;
        let own = file.metadata()?;
        if (own.uid(), own.gid()) == (owner.uid(), owner.gid()) {
            return Ok(());
        }
        chown(&path, Some(owner.uid()), Some(owner.gid()))
    };
    write().map_err(|error| {
        StoreError::new(
            ErrorKind::Configuration,
            "configure a Cassandra server",
            format!("{} cannot be written: {error}", path.display()),
        )
        .with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(root: &Path) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            ports: [3, 4, 5, 6],
            password: Secret::new("hunter2"),
            user: None,
        }
    }

    #[test]
    fn no_file_and_no_argument_holds_the_password() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let yaml = configuration(&folder, Durability::Durable, &memory).unwrap();
        assert!(yaml.contains("commitlog_sync: batch\n"));
        assert!(!yaml.contains("commitlog_sync_period"));
        assert!(!yaml.contains("hunter2"));
        let arguments = arguments(
            Path::new("/j"),
            Path::new("/j/jamm-1.jar"),
            &folder,
            &memory,
        );
        assert!(
            arguments
                .iter()
                .all(|argument| !argument.contains("hunter2"))
        );
        assert!(arguments.contains(&"-Xmx1024M".to_owned()));
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let profile = ServerOptions {
            profile: Some("fast".to_owned()),
            ..ServerOptions::default()
        };
        let error = Memory::new(&profile).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let error = configuration(&folder(root.path()), Durability::Unacknowledged, &memory);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
