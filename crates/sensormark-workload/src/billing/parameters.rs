//! Every number behind a scale of the billing workload.

use super::FAMILY;
use crate::growth::sizes;
use sensormark_data::billing::calendar;
use sensormark_engine::parameter::{any, at_least, between, check_each};
use sensormark_engine::parameters;
use std::ops::Range;
use std::time::Duration;

/// Bills of one size take such a part of a trial's budget at most.
const PARTS: u32 = 20;
/// What nobody reaches in a short run.
const MOST_GROWN: u32 = 131_072;

parameters! {
    /// How much is loaded, by whom, and what is billed.
    #[derive(Eq)]
    pub struct Parameters {
        /// devices loaded, then billed; several numbers, ascending, to see how bills slow down: devices=160,320
        devices: Vec<u32>, Plain, at_least(1.0) => vec![16], vec![16], vec![160], vec![1_600, 4_000, 6_400];
        /// the data then grow to so many devices, four times each, as far as the budget goes; 0: they do not
        #[serde(default)]
        grown: u32, Plain, any() => MOST_GROWN, MOST_GROWN, 0, 0;
        /// seconds that bills are asked for at a further size
        #[serde(default)]
        grown_seconds: u32, Seconds, at_least(1.0) => 5;
        /// devices loaded first without being billed, which gives the study's rate of ingest: 160, one a client; fewer than devices, 0 for none
        #[serde(default)]
        ingest_devices: u32, Plain, any() => 0, 0, 0, 160;
        /// whether each number of devices begins with an empty database, as the study has it (true), or grows from the one before (false)
        #[serde(default)]
        emptied: bool, Plain, any() => false;
        /// readings of each device, one an hour from 2018 on; 8760 is a year
        records: u32, Hours, between(1.0, calendar::MOST_HOURS as f64) => 744, 744, 8_760, 8_760;
        /// clients, each with a connection of its own and one device at a time; devices are multiples of it
        clients: u32, Plain, at_least(1.0) => 16, 16, 160, 160;
        /// processes that clients are spread over evenly
        /// (the study's are 5 of 32 clients; 1 where a database lets one process have it open)
        processes: u32, Plain, at_least(1.0) => 1, 1, 5, 5;
        /// whether a meter's update and its reading are one commit (true) or two, as the study has it (false)
        atomic: bool, Plain, any() => false;
        /// the month that is billed, 1 to 120; 13 is the January of the second year
        bill_month: u32, Plain, at_least(1.0) => 1, 1, 7, 7;
        /// how often each device is billed; the study's number is 1
        bill_rounds: u32, Plain, at_least(1.0) => 60, 60, 10, 1;
        /// after so many seconds a phase is cut, and shown as cut; 0 for never
        limit_seconds: u32, Seconds, any() => 60, 60, 1_800, 0;
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 3, 3;
    }
}

impl Parameters {
    /// The hours of the month that is billed, as far as readings go; none where there is no such month.
    pub fn billed_hours(&self) -> Option<Range<u32>> {
        let month = calendar::month(self.bill_month)?;
        Some(month.start..month.end.min(self.records))
    }

    /// Devices at each size after the last of `devices`.
    pub fn sizes(&self) -> Vec<u32> {
        // History and what comes after it are of an hour at least.
        let first = self.devices.last().filter(|_| self.records > 1);
        first.map_or_else(Vec::new, |devices| sizes(*devices, self.grown))
    }

    /// The most devices, those of further sizes among them.
    pub fn most_devices(&self) -> u32 {
        self.devices.iter().copied().chain(self.sizes()).max().unwrap_or(0)
    }

    /// Asks for bills at a further size for no longer than a trial's budget has time.
    pub fn fit(&mut self, budget: Duration) {
        let most = u32::try_from((budget / PARTS).as_secs()).unwrap_or(u32::MAX);
        self.grown_seconds = self.grown_seconds.min(most.max(1));
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, with what would.
    pub fn check(&self) -> Result<(), String> {
        check_each(Self::TABLE, self)?;
        self.check_devices()?;
        if self.processes > self.clients {
            return Err(format!(
                "processes={}: 1 to {} processes can share {} clients",
                self.processes, self.clients, self.clients
            ));
        }
        match self.billed_hours() {
            None => Err(format!("bill_month={}: months go from 1 (January 2018) to 120", self.bill_month)),
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
        match all.find(|&(_, one)| one % clients != 0) {
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
