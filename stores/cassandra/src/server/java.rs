//! Java's command line: the modules that are opened, the options that Cassandra is proven with, and the node's own.

use super::configuration::Place;
use super::memory::Memory;
use sensormark_store::server::ServerFolder;
use std::path::Path;

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

/// Java's options that Cassandra is proven with; those of the garbage collector are the ones that it comes with.
const JAVA: [&str; 17] = [
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Xss256k",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=300",
    "-XX:+ParallelRefProcEnabled",
    "-XX:MaxTenuringThreshold=1",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:InitiatingHeapOccupancyPercent=70",
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

/// What makes a node on loopback start at once.
const AT_ONCE: [&str; 5] = [
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.shutdown_announce_in_ms=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4",
    "-Dcassandra-foreground=yes",
];

/// The same for a node that waits for no others.
const ALONE: [&str; 2] = ["-Dcassandra.ring_delay_ms=0", "-Dcassandra.load_ring_state=false"];

/// A member tells the others that it joins, and waits this many ms until it knows them. It ends where no word of the first came by then, which on a busy machine
/// takes more than a second. Cassandra's default is 30 s, because its machines may be far apart.
const JOINING: [&str; 1] = ["-Dcassandra.ring_delay_ms=4000"];

/// The options that open modules, which nodetool takes too.
pub(super) fn openings() -> impl Iterator<Item = String> {
    OPENINGS.iter().chain(&JAVA[..1]).map(|&text| text.to_owned())
}

/// The server's command line, with the configuration in this file of its folder.
pub(super) fn arguments(
    jars: &Path,
    agent: &Path,
    folder: &ServerFolder,
    memory: &Memory,
    (place, file): (Place, &str),
) -> Vec<String> {
    let root = folder.root.display();
    let mut arguments: Vec<String> = openings().collect();
    let ring: &[&str] = if place.members > 1 { &JOINING } else { &ALONE };
    let fixed = JAVA[1..].iter().chain(&AT_ONCE).chain(ring);
    arguments.extend(fixed.map(|&text| text.to_owned()));
    arguments.extend([
        format!("-Xms{}M", memory.heap),
        format!("-Xmx{}M", memory.heap),
        format!("-XX:G1HeapRegionSize={}M", region(memory)),
        format!("-XX:MaxDirectMemorySize={}M", memory.direct),
        format!("-javaagent:{}", agent.display()),
        format!("-Dcassandra.config=file://{root}/{file}"),
        format!("-Dlogback.configurationFile={root}/logback.xml"),
        format!("-Dcassandra.storagedir={root}"),
        format!("-Dcassandra.logdir={root}"),
        format!("-Dcassandra.jmx.local.port={}", management_port(folder, place)),
        format!("-Djava.io.tmpdir={root}"),
        format!("-Djna.tmpdir={root}"),
        "-cp".to_owned(),
        format!("{root}:{}/*", jars.display()),
        "org.apache.cassandra.service.CassandraDaemon".to_owned(),
    ]);
    arguments
}

/// The port of a member's management, which is always on 127.0.0.1.
pub(super) fn management_port(folder: &ServerFolder, place: Place) -> u16 {
    folder.ports[2 + place.member % 3]
}

/// The garbage collector's regions in MiB. Cassandra comes with 16. A small heap needs some dozens of regions, so they are smaller there. They are still large
/// enough that a batch of 1 MiB takes no more than half a region. Each object that takes more would start a collection early.
const fn region(memory: &Memory) -> u64 {
    if memory.heap >= 2_048 { 16 } else { 4 }
}
