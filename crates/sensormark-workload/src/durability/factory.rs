//! Durability trials as trials of phases: one phase of writing, in whose midst the server is killed.

use super::parameters::Parameters;
use super::readings::{Readings, schema};
use super::{NAME, WRITE};
use sensormark_engine::of_table;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_store::{Family, Schema};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// However the kill goes, clients write no longer than this after it.
const AFTER_THE_KILL: Duration = Duration::from_secs(60);

/// Durability trials.
#[derive(Debug, Clone, Copy, Default)]
pub struct DurabilityWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    let read: Parameters = sensormark_engine::parameter::read(parameters)?;
    read.check()?;
    Ok(read)
}

impl WorkloadFactory for DurabilityWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "kills each server in mid-load, and counts what survived of what it had acknowledged"
    }

    of_table!(Parameters, read);

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        Ok(schema(read(parameters)?.series))
    }

    fn families(&self, _parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        Ok(vec![("individual".to_owned(), Family::PerReading)])
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let mut parameters = read(parameters)?;
        if subject.store.description().embedded {
            // It ends with its client. With several clients we could not tell what each had written, so this workload uses one.
            parameters.clients = 1;
        }
        let readings = Readings::new(seed, parameters.series, parameters.batch);
        Ok(Box::new(Durability {
            schema: Arc::new(schema(parameters.series)),
            readings: Arc::new(readings),
            parameters,
        }))
    }
}

/// A durability trial on one layout of one store.
struct Durability {
    parameters: Parameters,
    schema: Arc<Schema>,
    readings: Arc<Readings>,
}

impl Workload for Durability {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let operations = Arc::clone(&self.readings);
        let load = LoadSpec {
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::writing(WRITE, operations, self.parameters.clients)
        };
        let kill_after = Duration::from_secs_f64(self.parameters.kill_after_seconds);
        let mut phase = PhaseSpec::new(WRITE, vec![load]).label("operation", WRITE);
        phase.kill_after = Some(kill_after);
        phase.limit = Some(kill_after + AFTER_THE_KILL);
        vec![Step::Run(phase)]
    }
}
