//! machine-tool as study 000 had it: its layouts, its searches without a bound, and reading what is left after datagrams were lost.

use crate::Outcome;
use crate::program::MACHINE_TOOL;
use crate::stores::{MEMORY, Server, owner, process, processes, signal};
use crate::support::{Place, errors, reasons};
use serde_json::Value;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Reasons that speak of data and answers; a busy machine has others.
const WRONG: [&str; 6] =
    ["wrong_answer", "lost_data", "altered_data", "duplicated_data", "errors", "client_failed"];

/// The five searches over the whole of time.
pub fn unbounded(server: &Server) -> Outcome {
    let place = Place::new();
    // MariaDB has no clustered layout for a single series.
    let layout = match server.name {
        "mariadb" => "mariadb:individual-row-per-reading".to_owned(),
        // Nor is an index of use to QuestDB there.
        "questdb" => "questdb:individual".to_owned(),
        _ => server.on(),
    };
    let on = format!("{layout}/individual-unbounded");
    let output = place.run(&[&MACHINE_TOOL[..], &["--on", &on, "--server-memory", MEMORY]].concat());
    if server.name == "cassandra" {
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
        ensure!(said.contains("rows lie in partitions of time"), "{said}");
        return Ok(None);
    }
    read_rightly(&place, &output, "individual-unbounded")
}

/// MongoDB's dates of milliseconds, InfluxDB's floating point fields.
pub fn as_published(server: &Server) -> Outcome {
    let layouts: &[&str] = match server.name {
        "mongodb" => &["individual-dates", "bulk-dates"],
        "influxdb" => &["individual-floats", "individual-udp-floats"],
        _ => return Ok(Some("the study's layout is the usual one here".to_owned())),
    };
    for layout in layouts {
        let place = Place::new();
        let on = format!("{}:{layout}/bulk", server.name);
        let output = place.run(&[&MACHINE_TOOL[..], &["--on", &on, "--server-memory", MEMORY]].concat());
        let trials = place.trials();
        let write = trials.iter().find(|trial| trial["side"] == "write");
        let kept = write.map(|trial| trial["implementation"]["layout"].clone()).unwrap_or_default();
        ensure!(kept["time"] == "native" || kept["float_fields"] == true, "{layout}: {kept}");
        read_rightly(&place, &output, "bulk")?;
    }
    Ok(None)
}

/// Samples, and so datagrams, a second.
const RATE: u64 = 5_000;
/// How long the server stays stopped after its buffer is full, in seconds: so much is lost.
const LOSING_SECONDS: u64 = 3;

/// How many seconds of datagrams the listener's buffer holds. The listener asks for 32 MiB and gets what the kernel allows. The kernel counts twice that
/// amount, and a small datagram takes 768 bytes of it. With the usual 4 MiB, 10,922 datagrams fit (9,984 were kept of 30,000).
fn seconds_to_fill() -> u64 {
    let allowed = std::fs::read_to_string("/proc/sys/net/core/rmem_max");
    let allowed = allowed.ok().and_then(|text| text.trim().parse().ok());
    let bytes: u64 = allowed.unwrap_or(32 << 20).min(32 << 20);
    (2 * bytes / 768).div_ceil(RATE)
}

/// The server is stopped (SIGSTOP) for a while, so that the kernel has no room for its datagrams.
pub fn lost_datagrams(server: &Server) -> Outcome {
    if server.name != "influxdb" {
        return Ok(Some("it takes no datagrams".to_owned()));
    }
    let place = Place::new();
    let mut program = place.command(&MACHINE_TOOL);
    program.args(["--on", "influxdb:individual-udp/bulk", "--server-memory", MEMORY]);
    let stop = LOSING_SECONDS + seconds_to_fill();
    let measured = format!("measured_seconds={}", stop + 8);
    program.args(["--set", &format!("samples_per_second={RATE}")]);
    program.args(["--set", &measured]);
    let program =
        program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let deadline = Instant::now() + Duration::from_secs(300);
    let writes = || processes(program.id()).into_iter().any(is_source);
    while !writes() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let root = owner(&place).as_ref().and_then(process).ok_or("no server was started")?;
    std::thread::sleep(Duration::from_secs(4));
    let stopped = processes(root);
    signal("STOP", &stopped);
    std::thread::sleep(Duration::from_secs(stop));
    signal("CONT", &stopped);
    let output = program.wait_with_output().map_err(|error| error.to_string())?;
    let trials = place.trials();
    let write = trials.iter().find(|trial| trial["side"] == "write");
    let lost = write.and_then(|trial| trial["ledger"]["in_doubt_not_stored"].as_u64());
    let acknowledged = write.and_then(|trial| trial["ledger"]["lost"].as_u64());
    println!("{lost:?} datagrams' samples are not stored");
    ensure!(lost > Some(100) && acknowledged == Some(0), "{lost:?}: {}", errors(&output));
    read_rightly(&place, &output, "bulk")
}

fn is_source(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| String::from_utf8_lossy(&line).contains("machine-tool-source"))
}

/// There is a read trial of this strategy with answers, and all that were checked are right.
fn read_rightly(place: &Place, output: &Output, strategy: &str) -> Outcome {
    let trials = place.trials();
    let is_wanted = |trial: &&Value| trial["implementation"]["strategy"] == strategy;
    let read = trials.iter().find(is_wanted).ok_or_else(|| format!("no read trial: {}", errors(output)))?;
    let answers = &read["answers"];
    ensure!(
        answers["checked"].as_u64() > Some(0) && answers["wrong"].as_u64() == Some(0),
        "{answers}, {}: {}",
        read["verdict"],
        errors(output)
    );
    for trial in &trials {
        let kinds = reasons(trial);
        ensure!(
            !kinds.iter().any(|kind| WRONG.contains(&kind.as_str())),
            "{}: {}",
            trial["verdict"],
            errors(output)
        );
    }
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}
