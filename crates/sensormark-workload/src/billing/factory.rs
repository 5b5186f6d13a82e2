//! Billing as trials of phases: the steps that an implementation goes through.

use super::bills::Bills;
use super::history::History;
use super::ingest::{Ingest, Order};
use super::parameters::Parameters;
use super::{ALONE, DEVICES, EXTRACT, HISTORY, INGEST, NAME, OPERATION};
use crate::growth;
use sensormark_data::billing::{self, calendar};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_engine::answers::Checking;
use sensormark_engine::of_table;
use sensormark_engine::parameter;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_result::measurement::names;
use sensormark_store::{
    Atomicity, DefaultSelection, Family, Index, LayoutOption, Schema, Shape, WriteMethod,
};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Single writes at each further size, about.
const SINGLE_WRITES: u32 = 2_000;
/// The phase of them.
const TAIL: &str = "tail";

/// The billing workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct BillingWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    parameter::read(parameters)
}

impl WorkloadFactory for BillingWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "hourly readings of consumption meters, each updating its meter; then a month's bill for everybody"
    }

    of_table!(Parameters, read);

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let parameters = read(parameters)?;
        request.begins(NAME, calendar::START_NS)?;
        let records = request.steps(NAME, calendar::HOUR_NS)?;
        let records = records.unwrap_or_else(|| parameters.records.into());
        let records = u32::try_from(records).unwrap_or(u32::MAX);
        if records > calendar::MOST_HOURS {
            return Err(format!(
                "--for: there are {} hours of data, ten years; give that or less",
                calendar::MOST_HOURS
            ));
        }
        let devices = parameters.devices.last().copied().unwrap_or_default();
        Ok(billing::data_set(request.seed, devices, records))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        Ok(billing::schema(read(parameters)?.most_devices()))
    }

    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        growth::changed(parameters, |own: &mut Parameters| own.fit(budget))
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let family = read(parameters)?.family().to_owned();
        Ok(vec![(family, Family::PerReading)])
    }

    fn choose(&self, _parameters: &Value, _family: &str, offers: &mut [LayoutOption]) {
        study_first(offers);
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let mut parameters = read(parameters)?;
        parameters.check()?;
        if subject.store.one_process().is_some() {
            parameters.processes = 1;
        }
        let month = parameters.billed_hours().unwrap_or_default();
        if subject.layout.foreign_key {
            // A reading comes after its meter there, and history comes before.
            parameters.grown = 0;
        }
        let schema = Arc::new(billing::schema(parameters.most_devices()));
        let size = subject.store.write_size(subject.layout, &schema.tables[0]);
        let readings = size.readings_per_write() as u64;
        Ok(Box::new(Billing { schema, parameters, seed, month, readings }))
    }
}

/// Puts the study's layout first where a store has it, rows by meter alone, and has the store's usual one measured beside it by another name.
/// Datagrams are for those who name them: nobody acknowledges that a meter was read.
fn study_first(offers: &mut [LayoutOption]) {
    for offer in offers.iter_mut() {
        if offer.layout.write == WriteMethod::Datagram {
            offer.default_selection = DefaultSelection::OnRequest;
        }
    }
    let by_meter = |offer: &LayoutOption| {
        let layout = &offer.layout;
        layout.index == Index::Series && layout.shape == Shape::RowPerReading && !layout.foreign_key
    };
    let Some(place) = offers.iter().position(by_meter).filter(|place| *place > 0) else {
        return;
    };
    let usual = &mut offers[0];
    let by_time = if usual.layout.index == Index::SeriesTime { "time-index" } else { "by-time" };
    by_time.clone_into(&mut usual.variant);
    usual.default_selection = DefaultSelection::Further;
    offers[place].variant.clear();
    offers[place].default_selection = DefaultSelection::Usual;
    offers[..=place].rotate_right(1);
}

/// The workload with its numbers.
struct Billing {
    parameters: Parameters,
    schema: Arc<Schema>,
    seed: u64,
    /// The month that is billed, in hours from the first reading.
    month: Range<u32>,
    /// Readings in a write of history.
    readings: u64,
}

impl Billing {
    fn order(&self, devices: Range<u32>) -> Order {
        Order { devices, lanes: self.parameters.clients, hours: 0..self.parameters.records }
    }

    fn phase(&self, operation: &str, devices: u32, load: LoadSpec) -> PhaseSpec {
        let Parameters { processes, limit_seconds, .. } = self.parameters;
        let mut phase = PhaseSpec::new(format!("{operation}-{devices}"), vec![load])
            .label(OPERATION, operation)
            .label(DEVICES, devices);
        phase.processes = processes;
        phase.limit = (limit_seconds > 0).then(|| Duration::from_secs(u64::from(limit_seconds)));
        phase
    }

    const fn atomicity(&self) -> Atomicity {
        if self.parameters.atomic { Atomicity::Atomic } else { Atomicity::Separate }
    }

    /// Readings of so many devices.
    fn stored(&self, devices: u32) -> u64 {
        u64::from(devices) * u64::from(self.parameters.records)
    }

    /// Loads devices up to this number.
    fn ingest(&self, devices: Range<u32>) -> PhaseSpec {
        let end = devices.end;
        let operations = Ingest::new(self.seed, self.order(devices), self.atomicity());
        let load = LoadSpec::writing(INGEST, Arc::new(operations), self.parameters.clients);
        let phase = self.phase(INGEST, end, load);
        let commits: u32 = if self.parameters.atomic { 1 } else { 2 };
        phase.label("commits", commits)
    }

    /// Bills all devices up to this number, of which these were loaded last.
    fn extract(&self, devices: Range<u32>) -> PhaseSpec {
        let end = devices.end;
        let rounds = Some(self.parameters.bill_rounds);
        let operations = Bills::new(self.seed, self.order(devices), self.month.clone(), rounds);
        let clients = self.parameters.clients;
        let mut load = LoadSpec::asking(EXTRACT, Arc::new(operations), clients, Checking::All);
        load.about = Some(ingest_of(end));
        self.phase(EXTRACT, end, load)
    }
}

fn ingest_of(devices: u32) -> About {
    About { phase: format!("{INGEST}-{devices}"), load: INGEST.to_owned() }
}

impl Billing {
    /// A phase at a further size, which takes as long as it takes within the budget.
    fn at_size(&self, name: &str, devices: u32, load: LoadSpec) -> PhaseSpec {
        let phase = PhaseSpec::new(format!("{name}-{devices}"), vec![load]);
        PhaseSpec { processes: self.parameters.processes, ..phase.label(names::STORED, self.stored(devices)) }
    }

    /// From size to size, after all that is loaded one by one: history, the last devices' last hours one by one, and bills of everybody for a time.
    fn grow(&self, steps: &mut Vec<Step>, mut before: u32) {
        let Parameters { clients, records, grown_seconds, .. } = self.parameters;
        for devices in self.parameters.sizes() {
            let last = SINGLE_WRITES.div_ceil(clients).clamp(1, records - 1);
            let rest =
                Order { devices: devices - clients..devices, lanes: clients, hours: records - last..records };
            let history = History::new(self.seed, before..devices, records, rest.clone(), self.readings);
            let bills = Bills::new(self.seed, rest.clone(), self.month.clone(), None);
            let history = LoadSpec {
                distribution: WorkDistribution::COUNTER,
                ..LoadSpec::writing(HISTORY, Arc::new(history), clients)
            };
            let ingest = Ingest::new(self.seed, rest, self.atomicity());
            let ingest = LoadSpec::writing(INGEST, Arc::new(ingest), clients);
            let tail = self.at_size(TAIL, devices, ingest);
            let about = About { phase: tail.name.clone(), load: INGEST.to_owned() };
            let asking = LoadSpec {
                about: Some(about),
                ..LoadSpec::asking(EXTRACT, Arc::new(bills), clients, Checking::OneIn(growth::CHECK_ONE_IN))
            };
            let mut asking = self.at_size("bills", devices, asking);
            asking.limit = Some(Duration::from_secs(grown_seconds.into()));
            steps.extend([
                Step::Size(self.stored(devices)),
                Step::Run(self.at_size(HISTORY, devices, history)),
                Step::Run(tail),
                Step::Settle(format!("settled-{devices}")),
                Step::Run(asking),
            ]);
            before = devices;
        }
    }
}

impl Workload for Billing {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut before: Option<u32> = None;
        let alone = self.parameters.ingest_devices;
        if alone > 0 {
            let ingest = self.ingest(0..alone).label(ALONE, true);
            steps.push(Step::Run(ingest));
            before = Some(alone);
        }
        for &devices in &self.parameters.devices {
            if self.parameters.emptied && before.take().is_some() {
                steps.push(Step::Reset);
            }
            let added = before.unwrap_or(0)..devices;
            let (mut ingest, extract) = (self.ingest(added.clone()), self.extract(added));
            // What was cut is not built upon: bills could not be told right from wrong.
            ingest.needs.extend(before.map(ingest_of));
            steps.push(Step::Run(ingest));
            steps.push(Step::Settle(format!("settled-{devices}")));
            steps.push(Step::Run(extract));
            before = Some(devices);
        }
        self.grow(&mut steps, before.unwrap_or(0));
        steps
    }
}
