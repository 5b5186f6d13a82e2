//! `--as-study`: each study's protocol as far as it is stated, in one table, and what of it is done.
//!
//! Everything that the option changes is a field of [`Protocol`]; who acts on it asks the run's protocol, never a workload's name.

use crate::selection::Choice;
use sensormark_result::measurement::record::Implementation;

/// What a study stated of its protocol, and what a run does of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The workload after this study.
    pub workload: &'static str,
    /// The profile of settings of servers that sensormark starts, where the user names none.
    pub profile: &'static str,
    /// Whether the server is started again, with its files dropped from the page cache, before each reading trial. The warm-up follows.
    pub restart_before_reading: bool,
    /// Whether reading strategies take turns: each repetition begins with the next one.
    pub strategies_turn: bool,
    /// The study's own layouts by store: what is measured of a store that is named without a layout.
    pub layouts: &'static [(&'static str, &'static [&'static str])],
    /// What was stated, and what is done.
    pub statements: &'static [Statement],
}

/// One statement of a study about its protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    /// What the study did.
    pub stated: &'static str,
    /// What is done here.
    pub here: Here,
}

/// What is done of a statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Here {
    /// It is done, by these means.
    Done(&'static str),
    /// It is done by these means where this was measured, which a run may have done otherwise.
    Where(Own, &'static str),
    /// It is not done, with the reason.
    Not(&'static str),
    /// It is not done where all processes are on one machine, with the reason. It is done by these means where roles are on other hosts.
    OnHosts(&'static str, &'static str),
}

/// What a run measures of a store that a statement is about.
#[derive(Debug, PartialEq, Eq)]
pub enum Own {
    /// The store's layout of this name.
    Layout(&'static str, &'static str),
}

impl Own {
    /// Whether it is about the implementation's store.
    fn is_about(&self, one: &Implementation) -> bool {
        let Self::Layout(store, _) = self;
        one.store == *store
    }

    /// Whether it is the implementation.
    fn is(&self, one: &Implementation) -> bool {
        let Self::Layout(_, layout) = self;
        self.is_about(one) && one.layout_name == *layout
    }
}

use Here::{Done, Not, OnHosts, Where};

const fn says(stated: &'static str, here: Here) -> Statement {
    Statement { stated, here }
}

/// The profile of the databases' own settings, or a study's where it changed some.
const AS_PUBLISHED: &str = "as-published";

/// The protocols of the seven studies.
pub const PROTOCOLS: [Protocol; 7] = [
    Protocol {
        workload: "machine-tool",
        profile: AS_PUBLISHED,
        restart_before_reading: true,
        strategies_turn: true,
        layouts: &[
            ("mariadb", &["individual", "bulk"]),
            ("mongodb", &["individual-dates", "bulk-dates"]),
            ("influxdb", &["individual-udp-floats"]),
        ],
        statements: &[
            says(
                "the databases' own settings: it states no change of them",
                Done("--profile as-published, instead of a memory budget"),
            ),
            says(
                "both systems are rebooted before each test",
                Done(
                    "before each reading trial sensormark stops the server, drops its files from the page cache, and starts it again. \
                     Each writing trial has a new server on an empty folder",
                ),
            ),
            says(
                "a reboot of the operating system",
                Not(
                    "sensormark does not reboot the machine: what the kernel holds besides the database's files stays",
                ),
            ),
            says(
                "5 minutes of warm-up, 15 measured, the reader or writer started again in between",
                Done(
                    "warm-up and measured phase; --scale study has these lengths; the client goes on instead of being started again",
                ),
            ),
            says(
                "memory is what is resident just before the end (ps, RSS)",
                Done("a table beside ours, whose server memory counts shared pages once"),
            ),
            says(
                "disk is the folder's growth over the whole 20 minutes, not settled",
                Done("a table beside ours, which is taken after settling"),
            ),
            says(
                "MongoDB's times are dates of milliseconds, InfluxDB is written over UDP as floating point fields",
                Done("these layouts are measured where a store is named without a layout"),
            ),
            says(
                "difficulty of the implementation, 1 to 5, judged by the authors",
                Done("the published grades enter the score of implementations that the study had"),
            ),
            says(
                "one after the other, each once",
                Done("reading strategies take turns, so that several repetitions begin with each of them"),
            ),
            says(
                "three machines on gigabit Ethernet: a single-board computer writes",
                OnHosts("all processes are on this machine", "roles are on the hosts that --host names"),
            ),
        ],
    },
    Protocol {
        workload: "sensor-operations",
        profile: AS_PUBLISHED,
        restart_before_reading: false,
        strategies_turn: false,
        layouts: &[
            ("postgresql", &["individual", "individual-concatenated", "individual-no-index"]),
            ("mongodb", &["individual", "individual-no-index"]),
            ("cassandra", &["individual-partition-per-series"]),
        ],
        statements: &[
            says(
                "configuration files as they come, but for folders and the network",
                Done("--profile as-published, instead of a memory budget"),
            ),
            says(
                "each test starts with an empty database; writes, then as many reads",
                Done("as every run of this workload does"),
            ),
            says(
                "data on one disk, logs and caches on the other",
                Not(
                    "unless --log-folder names a folder on another disk; Cassandra's saved caches stay with its data",
                ),
            ),
            says(
                "MongoDB's driver of 2012 acknowledges no write",
                Not(
                    "MongoDB's writes are acknowledged (w:1): of others nobody knows whether they are stored",
                ),
            ),
            says(
                "PostgreSQL's multi write is a concatenated SQL query",
                Where(
                    Own::Layout("postgresql", "individual-concatenated"),
                    "the layout individual-concatenated, which stands for its multi writes",
                ),
            ),
            says(
                "physical and virtual machines of its own, one client machine",
                Not("client and server share this machine; compare sets two runs side by side"),
            ),
        ],
    },
    Protocol {
        workload: "devops",
        profile: AS_PUBLISHED,
        restart_before_reading: false,
        strategies_turn: false,
        layouts: &[("mongodb", &["individual-as-published"]), ("influxdb", &["individual"])],
        statements: &[
            says(
                "the databases' own settings; Snappy compresses MongoDB's collections",
                Done("--profile as-published; Snappy is what MongoDB comes with"),
            ),
            says(
                "MongoDB: one collection, tags as pairs of key and value, one index",
                Done("the layout that --as-study measures"),
            ),
            says(
                "transparent huge pages are disabled",
                Not("a setting of the machine, which sensormark leaves alone"),
            ),
            says("query times are means of 1,000 runs", Done("--scale study asks as often")),
        ],
    },
    Protocol {
        workload: "billing",
        profile: AS_PUBLISHED,
        restart_before_reading: false,
        strategies_turn: false,
        layouts: &[("griddb", &["reading-time-series"]), ("mariadb", &["reading-foreign-key"])],
        statements: &[
            says(
                "GridDB keeps a container a meter, whose row key is the time of a reading (Date)",
                Where(Own::Layout("griddb", "reading-time-series"), "the layout reading-time-series"),
            ),
            says(
                "METER_READS has a foreign key to METERS",
                Where(Own::Layout("mariadb", "reading-foreign-key"), "the layout reading-foreign-key"),
            ),
            says(
                "each thread loads one device, 160 in all",
                Done("--scale study loads 160 devices first, whose rate is the study's figure"),
            ),
            says(
                "GridDB with 1,024 MB and concurrency 4, MariaDB as it comes with 320 connections",
                Done("--profile as-published"),
            ),
            says(
                "before each test data are deleted and the server is started again",
                Done(
                    "each implementation and repetition has a new server on an empty folder; --set emptied=true empties the database for each number of devices",
                ),
            ),
            says(
                "each test three times, the median counts",
                Not(
                    "--scale study repeats three times; figures are means of the three, with their intervals",
                ),
            ),
            says(
                "five client machines of 32 threads",
                Not("clients are processes of this machine; --set processes= splits them"),
            ),
        ],
    },
    Protocol {
        workload: "iot-platform",
        profile: AS_PUBLISHED,
        restart_before_reading: false,
        strategies_turn: false,
        layouts: &[
            ("mongodb", &["bucketed-as-published", "bucketed-as-published-indexed"]),
            ("influxdb", &["flat-flux"]),
        ],
        statements: &[
            says(
                "the databases' own settings: it states no change of them",
                Done("--profile as-published, instead of a memory budget"),
            ),
            says(
                "MongoDB's documents with BSON dates and one minimum and maximum a property",
                Done("the layout bucketed-as-published"),
            ),
            says(
                "ranges by $match, $project, $unwind, $match and $group; no index but where it is said, then on device and day",
                Done("the layouts bucketed-as-published and bucketed-as-published-indexed"),
            ),
            says("InfluxDB is asked in Flux", Done("the layout flat-flux")),
            says(
                "means of five runs of one question",
                Not("each question is about another stretch of time; --scale study repeats five times"),
            ),
            says(
                "documents written message by message over a year",
                Not("the questions follow a load in batches; message by message is measured by itself"),
            ),
            says("a virtual machine of 2 processors, 2 GB and a SATA SSD", Not("this machine as it is")),
        ],
    },
    Protocol {
        workload: "slow-control",
        statements: &[
            says("uniform values", Done("--set values=uniform")),
            says("the server starts again before each question", Not("--set cold=20 --cache cold asks so")),
            says("readings in bursts", Not("they come regularly")),
        ],
        ..WARM
    },
    Protocol {
        workload: "hydrometry",
        statements: &[says("values made by a trained network", Not("cycles and walks"))],
        ..WARM
    },
];

/// A study of databases as they come, that does not restart them, in the layouts that are usual here.
const WARM: Protocol = Protocol {
    workload: "",
    profile: AS_PUBLISHED,
    restart_before_reading: false,
    strategies_turn: false,
    layouts: &[],
    statements: &[],
};

/// The protocol of the study behind a workload; none for workloads without a study.
pub fn protocol(workload: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|one| one.workload == workload)
}

/// The protocol of the study behind a workload.
///
/// # Errors
/// The workload is after no study: those that are, in words.
pub fn required(workload: &str) -> Result<&'static Protocol, String> {
    protocol(workload).ok_or_else(|| {
        let known: Vec<&str> = PROTOCOLS.iter().map(|one| one.workload).collect();
        format!("--as-study: {workload} is after no study; these are: {}", known.join(", "))
    })
}

impl Protocol {
    /// The choices, with the study's own layouts for stores that were named without one, as far as the store offers them (`offered`
    /// gives their names).
    ///
    /// # Errors
    /// What `offered` says.
    pub fn choose(
        &self,
        choices: Vec<Choice>,
        offered: impl Fn(&Choice) -> Result<Vec<String>, String>,
    ) -> Result<Vec<Choice>, String> {
        let mut chosen = Vec::new();
        for choice in choices {
            let name = choice.store.description().name;
            let own = self.layouts.iter().find(|(store, _)| *store == name);
            let (Some((_, layouts)), None) = (own, &choice.layout) else {
                chosen.push(choice);
                continue;
            };
            let there = offered(&choice)?;
            let own: Vec<Choice> = layouts
                .iter()
                .filter(|layout| there.iter().any(|name| name == *layout))
                .map(|layout| Choice { layout: Some((*layout).to_owned()), ..choice.clone() })
                .collect();
            if own.is_empty() {
                chosen.push(choice);
            } else {
                chosen.extend(own);
            }
        }
        Ok(chosen)
    }

    /// What is done as the study did it, a line each.
    pub fn done(&self) -> Vec<String> {
        let done = self.statements.iter().filter_map(|one| match one.here {
            Done(means) | Where(_, means) => Some(format!("{}: {means}", one.stated)),
            Not(_) | OnHosts(..) => None,
        });
        done.collect()
    }

    /// What is not, a line each; of a run whose roles may be on other hosts.
    pub fn not_done(&self, on_hosts: bool) -> Vec<String> {
        let not = self.statements.iter().filter_map(|one| match one.here {
            OnHosts(..) if on_hosts => None,
            Not(reason) | OnHosts(reason, _) => Some(format!("{}: {reason}", one.stated)),
            Done(_) | Where(..) => None,
        });
        not.collect()
    }

    /// What a run of these implementations did, and what it did not, a line each. Statements about a store that it did not measure are left out.
    /// Its roles may have been on other hosts.
    pub fn of_run(&self, measured: &[&Implementation], on_hosts: bool) -> [Vec<String>; 2] {
        let [mut done, mut not] = [Vec::new(), Vec::new()];
        for Statement { stated, here } in self.statements {
            match here {
                OnHosts(_, means) if on_hosts => done.push(format!("{stated}: {means}")),
                Done(means) => done.push(format!("{stated}: {means}")),
                Not(reason) | OnHosts(reason, _) => not.push(format!("{stated}: {reason}")),
                Where(own, means) if measured.iter().any(|one| own.is(one)) => {
                    done.push(format!("{stated}: {means}"));
                }
                Where(own, _) => {
                    let other = measured.iter().find(|one| own.is_about(one));
                    not.extend(
                        other.map(|one| format!("{stated}: this run measured {} otherwise", one.title)),
                    );
                }
            }
        }
        [done, not]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_result::tests::fixture::implementation;

    /// A kept run says what it did, and not what a run of today would.
    #[test]
    fn a_run_that_measured_a_store_otherwise_does_not_claim_what_the_study_did() {
        let billing = protocol("billing").expect("a study");
        let told = |layout: &str| {
            let one = implementation("GridDB", layout, None);
            billing.of_run(&[&one], false).map(|lines| lines.join("\n"))
        };
        let [done, not] = told("reading-time-series");
        assert!(done.contains("the layout reading-time-series"), "{done}");
        assert!(!not.contains("otherwise"), "{not}");
        let [done, not] = told("reading");
        assert!(!done.contains("reading-time-series"), "{done}");
        assert!(not.contains("this run measured GridDB otherwise"), "{not}");
        // MariaDB was not measured, so there is nothing to say of its schema.
        assert!(!format!("{done}{not}").contains("foreign key"));
    }
    #[test]
    fn three_machines_are_claimed_of_a_run_on_other_hosts_alone() {
        let tool = protocol("machine-tool").expect("a study");
        let one = implementation("PostgreSQL", "bulk", None);
        let told = |on_hosts| {
            let told = tool.of_run(&[&one], on_hosts);
            told.map(|lines| lines.join("\n").contains("three machines"))
        };
        assert_eq!((told(false), told(true)), ([false, true], [true, false]));
        let fewer = tool.not_done(false).len() - tool.not_done(true).len();
        assert_eq!(fewer, 1);
    }
}
