//! How long a trial takes, about. It is guessed from the rates that the study printed, because nothing is known of this machine before it is measured.

use super::parameters::Parameters;

/// What the study printed: its database, operations a second, and the longest mean time of a bill in ms (`studies::billing`).
pub const PRINTED: [(&str, f64, f64); 2] = [("GridDB", 31_916.3, 84.3), ("MariaDB", 2_423.3, 231.4)];
/// Its clients.
const CLIENTS: f64 = 160.0;

/// Rates that a guess supposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// The study's database that has them.
    database: &'static str,
    /// Meters updated and readings inserted, in a second.
    operations: f64,
    /// Bills in a second.
    bills: f64,
}

impl Pace {
    /// The rates for a store of this name. GridDB has those of the study's GridDB. All others have those of its MariaDB, which commits each operation to disk
    /// as they do.
    pub fn of(store: &str) -> Self {
        let is_griddb = store == "griddb";
        let (database, operations, bill_ms) = PRINTED[usize::from(!is_griddb)];
        Self { database, operations, bills: CLIENTS * 1e3 / bill_ms }
    }

    /// Seconds that a trial with these numbers takes.
    pub fn seconds(&self, parameters: &Parameters) -> f64 {
        let cut = |seconds: f64| match parameters.limit_seconds {
            0 => seconds,
            limit => seconds.min(f64::from(limit)),
        };
        let bills = |devices: u32| f64::from(devices) * f64::from(parameters.bill_rounds);
        let loads = loads(parameters).into_iter();
        let loading =
            loads.map(|devices| cut(f64::from(devices) * f64::from(parameters.records) / self.operations));
        let devices = parameters.devices.iter();
        let billing = devices.map(|&devices| cut(bills(devices) / self.bills));
        loading.chain(billing).sum::<f64>() + 2.0
    }

    /// The guess in words: what a trial loads, at which rate, and whose.
    pub fn told(&self, parameters: &Parameters) -> String {
        let readings: u64 = loads(parameters)
            .into_iter()
            .map(|devices| u64::from(devices) * u64::from(parameters.records))
            .sum();
        format!(
            "a trial that loads {readings} readings takes {:.1} h at {:.0} operations a second, the study's rate of {}; this machine's rate is not known yet",
            self.seconds(parameters) / 3_600.0,
            self.operations,
            self.database
        )
    }
}

/// Devices that are loaded by each loading phase.
fn loads(parameters: &Parameters) -> Vec<u32> {
    let alone = parameters.ingest_devices;
    let mut loads = Vec::new();
    let mut before = 0;
    for devices in
        Some(alone).into_iter().filter(|&alone| alone > 0).chain(parameters.devices.iter().copied())
    {
        loads.push(devices - before);
        if !parameters.emptied {
            before = devices;
        }
    }
    loads
}
