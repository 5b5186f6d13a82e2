//! What runs while something happens: every workload at its smallest.

use crate::random::Random;
use crate::step::Reach;
use crate::support::{Place, numbers, others};

/// A workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A file of the user's own.
    Own,
    /// The same without writers, with `--cache cold`.
    Cold,
    /// The same with a limit, with `--find-limit`.
    FindLimit,
    /// By its name, with numbers that make it small, and its simplest layout.
    Named(&'static str, &'static [&'static str], &'static str),
}

const MACHINE_TOOL: Work = Work::Named(
    "machine-tool",
    &["warmup_seconds=0.1", "measured_seconds=3.5", "reads=2", "reads_per_second=5", "history_seconds=5"],
    "individual",
);
const DEVOPS: Work = Work::Named(
    "devops",
    &[
        "hosts=2",
        "clients=1",
        "workers=1",
        "queries=3",
        "several_hosts=2",
        "hours=1",
        "more_hours=1.1",
        "long_minutes=10",
        "mean_minutes=20",
    ],
    "individual",
);
const SENSORS: Work = Work::Named(
    "sensor-operations",
    &["clients=1,2", "multi=2000", "single=100", "sweep=false", "grown=8000"],
    "individual",
);
const PLATFORM: Work = Work::Named(
    "iot-platform",
    &["days=2", "spans=1", "statistics=1", "questions=1", "messages=20", "grown=8"],
    "flat",
);
const BILLING: Work =
    Work::Named("billing", &["clients=2", "devices=2", "bill_rounds=1", "records=50", "grown=8"], "reading");
const DURABILITY: Work = Work::Named("durability", &["kill_after_seconds=0.4"], "individual");

const HEAD: &str = concat!(
    r#"
[series]
count = 8
interval = "1s"
duration = "3m"
[[tags]]
name = "sensor"
"#,
    numbers!(),
    others!(),
    r#"[load]
clients = 2
batch = 100
[mixed]
duration = "300ms"
[[queries]]
name = "point"
kind = "point"
"#
);

/// What is chosen before the workload.
pub struct Chosen {
    /// Whether the store has a server.
    pub server: bool,
    /// How it is reached.
    pub reach: Reach,
    /// Whether its files lie on a file system in memory, which has no cold cache.
    pub in_memory: bool,
    /// Whether it is one of the first steps, which are to be short.
    pub is_first: bool,
}

impl Work {
    /// One that suits a server or an embedded database.
    pub fn choose(chosen: &Chosen, random: &mut Random) -> Self {
        let (server, is_first) = (chosen.server, chosen.is_first);
        // What kills or restarts its database needs one of its own.
        let own = u64::from(chosen.reach == Reach::Own);
        if is_first && server {
            return Self::Own;
        }
        let long = u64::from(!is_first);
        random.weighted(&[
            (Self::Own, 8),
            (Self::Cold, 3 * own * u64::from(!chosen.in_memory)),
            (Self::FindLimit, 2 * long),
            (DEVOPS, 3),
            (SENSORS, 3),
            (PLATFORM, 3),
            (BILLING, 3),
            (DURABILITY, 3 * own),
            (MACHINE_TOOL, long),
        ])
    }

    /// What it is called in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own file",
            Self::Cold => "own file, --cache cold",
            Self::FindLimit => "own file, --find-limit",
            Self::Named(name, ..) => name,
        }
    }

    /// Its simplest layout.
    pub const fn layout(self) -> &'static str {
        match self {
            Self::Named(_, _, layout) => layout,
            _ => "individual",
        }
    }

    /// Writes what it needs into a place, and gives the arguments after `run`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn arguments(self, place: &Place) -> Result<Vec<String>, String> {
        let further = match self {
            Self::Cold => "",
            Self::Own => "[writers]\nclients = 1\nbatch = 20\n",
            Self::FindLimit => "[writers]\nclients = 1\nbatch = 20\nrate = 100\n",
            Self::Named(name, numbers, _) => {
                let set = numbers.iter().flat_map(|number| ["--set", number]);
                return Ok(std::iter::once(name).chain(set).map(str::to_owned).collect());
            }
        };
        let limits = match self {
            Self::FindLimit => "limits = [\"lost = 0\", \"p99 of point <= 100ms\"]\n",
            _ => "limits = [\"lost = 0\", \"wrong answers = 0\"]\n",
        };
        let text = format!("{limits}layouts = [\"individual\"]\n{HEAD}{further}");
        let file = place.path().join("own.toml");
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let options: &[&str] = match self {
            Self::Cold => &["--cache", "cold"],
            Self::FindLimit => &["--find-limit"],
            _ => &[],
        };
        let all = std::iter::once(&"own.toml").chain(options);
        Ok(all.map(|&argument| argument.to_owned()).collect())
    }
}
