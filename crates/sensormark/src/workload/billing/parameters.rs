//! Every number behind a scale of the billing workload.

use super::FAMILY;
use crate::dataset::billing::calendar;
use crate::engine::scale::Scale;
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::Range;

/// How much is loaded, by whom, and what is billed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Numbers of devices, ascending: each is loaded up to, then billed.
    #[serde(deserialize_with = "numbers")]
    pub devices: Vec<u32>,
    /// Devices that are loaded first, by themselves and without bills; 0 for none.
    #[serde(default)]
    pub ingest_devices: u32,
    /// Whether each number of devices begins with an empty database.
    #[serde(default)]
    pub emptied: bool,
    /// Readings of each device, one an hour.
    pub records: u32,
    /// Clients, each with a connection of its own, in both phases.
    pub clients: u32,
    /// Processes that they are spread over.
    pub processes: u32,
    /// Whether a meter's update and its reading are one commit.
    pub atomic: bool,
    /// The month that is billed, from 1; 13 is the January of the second year.
    pub bill_month: u32,
    /// How often each device is billed.
    pub bill_rounds: u32,
    /// When a phase is cut, in seconds; 0 for never.
    pub limit_seconds: u32,
    /// How often everything is measured.
    pub repetitions: u32,
}

/// What each number means.
pub const DOCUMENTATION: [(&str, &str); 11] = [
    (
        "devices",
        "devices loaded, then billed; several numbers, ascending, to see how bills slow down: devices=160,320",
    ),
    (
        "ingest_devices",
        "devices loaded first without being billed, for the study's rate of ingest: 160, one a client; fewer than devices, 0 for none",
    ),
    (
        "emptied",
        "whether each number of devices begins with an empty database, as the study has it (true), or grows from the one before (false)",
    ),
    (
        "records",
        "readings of each device, one an hour from 2018 on; 8760 is a year",
    ),
    (
        "clients",
        "clients, each with a connection of its own and one device at a time; devices are multiples of it",
    ),
    (
        "processes",
        "processes that clients are spread over evenly (the study's are 5 of 32 clients; 1 where a database lets one process have it open)",
    ),
    (
        "atomic",
        "whether a meter's update and its reading are one commit (true) or two, as the study has it (false)",
    ),
    (
        "bill_month",
        "the month that is billed, 1 to 120; 13 is the January of the second year",
    ),
    (
        "bill_rounds",
        "how often each device is billed; the study's number is 1",
    ),
    (
        "limit_seconds",
        "after so many seconds a phase is cut, and shown as cut; 0 for never",
    ),
    ("repetitions", "how often everything is measured"),
];

/// One number, several in a list, or several in a text with commas between them.
fn numbers<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(u32),
        Several(Vec<u32>),
        Text(String),
    }
    let wrong = || {
        serde::de::Error::custom(
            "write numbers of devices like 160, or several with commas between them: 160,320",
        )
    };
    match Written::deserialize(source).map_err(|_| wrong())? {
        Written::One(one) => Ok(vec![one]),
        Written::Several(several) => Ok(several),
        Written::Text(text) => {
            let read = |part: &str| part.trim().parse().map_err(|_| wrong());
            text.split(',').map(read).collect()
        }
    }
}

impl Parameters {
    /// The numbers behind a scale.
    pub fn of(scale: Scale) -> Self {
        match scale {
            Scale::Quick => Self {
                devices: vec![16, 32],
                ingest_devices: 0,
                emptied: false,
                records: 744,
                clients: 16,
                processes: 1,
                atomic: false,
                bill_month: 1,
                bill_rounds: 60,
                limit_seconds: 60,
                repetitions: 1,
            },
            Scale::Firm => Self {
                devices: vec![32, 64],
                ingest_devices: 0,
                emptied: false,
                records: 3_624,
                clients: 32,
                processes: 1,
                atomic: false,
                bill_month: 2,
                bill_rounds: 30,
                limit_seconds: 300,
                repetitions: 5,
            },
            Scale::Standard => Self {
                devices: vec![160],
                ingest_devices: 0,
                emptied: false,
                records: 8_760,
                clients: 160,
                processes: 5,
                atomic: false,
                bill_month: 7,
                bill_rounds: 10,
                limit_seconds: 1_800,
                repetitions: 3,
            },
            Scale::Study => Self {
                devices: vec![1_600, 4_000, 6_400],
                ingest_devices: 160,
                emptied: false,
                records: 8_760,
                clients: 160,
                processes: 5,
                atomic: false,
                bill_month: 7,
                bill_rounds: 1,
                limit_seconds: 0,
                repetitions: 3,
            },
        }
    }

    /// The hours of the month that is billed, as far as readings go; none where there is no such month.
    pub fn billed_hours(&self) -> Option<Range<u32>> {
        let month = calendar::month(self.bill_month)?;
        Some(month.start..month.end.min(self.records))
    }

    /// The most devices.
    pub fn most_devices(&self) -> u32 {
        self.devices.iter().copied().max().unwrap_or(0)
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, with what would.
    pub fn check(&self) -> Result<(), String> {
        self.check_devices()?;
        if !(1..=calendar::MOST_HOURS).contains(&self.records) {
            return Err(format!(
                "records={}: there are 1 to {} readings of a device, one an hour for ten years",
                self.records,
                calendar::MOST_HOURS
            ));
        }
        if self.processes == 0 || self.processes > self.clients {
            return Err(format!(
                "processes={}: 1 to {} processes can share {} clients",
                self.processes, self.clients, self.clients
            ));
        }
        if self.bill_rounds == 0 || self.repetitions == 0 {
            return Err("bill_rounds and repetitions are at least 1".to_owned());
        }
        match self.billed_hours() {
            None => Err(format!(
                "bill_month={}: months go from 1 (January 2018) to 120",
                self.bill_month
            )),
            Some(hours) if hours.is_empty() => Err(format!(
                "bill_month={}: {} records end before {} begins; load more than {} records, or bill an earlier month",
                self.bill_month,
                self.records,
                calendar::month_name(self.bill_month),
                hours.start
            )),
            Some(_) => Ok(()),
        }
    }

    fn check_devices(&self) -> Result<(), String> {
        let (devices, clients) = (&self.devices, self.clients);
        if clients == 0 {
            return Err("clients=0: there is at least one client".to_owned());
        }
        if devices.is_empty() || devices.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(format!(
                "devices={devices:?}: there is at least one number, and each is larger than the one before it"
            ));
        }
        let alone = self.ingest_devices;
        if alone > 0 && alone >= devices[0] {
            return Err(format!(
                "ingest_devices={alone}: it is less than the first of devices, {}, whose load is measured anyhow; 0 leaves it out",
                devices[0]
            ));
        }
        let names = devices.iter().map(|&one| ("devices", one));
        let mut all = names.chain((alone > 0).then_some(("ingest_devices", alone)));
        match all.find(|&(_, one)| one == 0 || one % clients != 0) {
            Some((name, one)) => Err(format!(
                "{name}={one}: each of {clients} clients is on one device at a time until the end, so that devices are a multiple of clients, {} for one",
                one.div_ceil(clients).max(1) * clients
            )),
            None => Ok(()),
        }
    }

    /// The name of the layouts' family.
    pub const fn family(&self) -> &'static str {
        FAMILY
    }
}
