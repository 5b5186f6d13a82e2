//! A small workload of phases: ten sensors, loaded and asked about, then loaded and asked about at once.

use sensormark_conformance::reference::Reference;
use sensormark_data::random::Stream;
use sensormark_engine::answers::Checking;
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::pacing::Schedule;
use sensormark_engine::phase::Pacing;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::record::{Figure, TrialRecord};
use sensormark_store::{
    Aggregate, Answer, AnswerSource, Ask, Atomicity, Batch, Entity, Family, Field, FieldSet, FieldType,
    Function, Grouping, Query, Schema, Selection, Series, Table, Tag, TagColumn, TimeRange, TimeResolution,
    Value, Values,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

const SENSORS: u32 = 10;
/// From one reading of a sensor to the next, in ns: not a whole millisecond, so that rounding shows.
const STEP_NS: i64 = 1_000_001;

/// The numbers of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parameters {
    /// Writing operations, of `rows` readings each.
    pub writes: u64,
    /// Readings in each.
    pub rows: u64,
    /// Questions.
    pub questions: u64,
    /// Clients of each load.
    pub clients: u32,
    /// Processes that write.
    pub processes: u32,
    /// When the load is cut, in ms.
    pub limit_ms: Option<u64>,
    /// Questions a second in the mixed phase; without, there is none.
    pub rate: Option<u64>,
    /// Whether readings also update their sensor's entity.
    pub entities: bool,
}

impl Parameters {
    pub fn small() -> Self {
        Self {
            writes: 600,
            rows: 1,
            questions: 100,
            clients: 2,
            processes: 1,
            limit_ms: None,
            rate: None,
            entities: false,
        }
    }
}

pub struct Sensors;

impl WorkloadFactory for Sensors {
    fn name(&self) -> &str {
        "sensors"
    }

    fn schema(&self, parameters: &serde_json::Value) -> Result<Schema, String> {
        Ok(schema(read(parameters)?.entities))
    }

    fn families(&self, _parameters: &serde_json::Value) -> Result<Vec<(String, Family)>, String> {
        Ok(vec![("rows".to_owned(), Family::PerReading)])
    }

    fn build(
        &self,
        parameters: &serde_json::Value,
        seed: u64,
        _subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = read(parameters)?;
        let schema = Arc::new(schema(parameters.entities));
        Ok(Box::new(Small { seed, parameters, schema }))
    }
}

fn read(parameters: &serde_json::Value) -> Result<Parameters, String> {
    serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())
}

fn schema(entities: bool) -> Schema {
    let field = |name: &str, kind| Field { name: name.to_owned(), kind, nullable: false };
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![field("value", FieldType::F64)],
            entity: entities.then(|| Entity {
                name: "sensors".into(),
                columns: vec![field("place", FieldType::Text)],
                last_time_column: "last_reading".into(),
            }),
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer((0..i64::from(SENSORS)).collect())]),
        }],
    }
}

struct Small {
    seed: u64,
    parameters: Parameters,
    schema: Arc<Schema>,
}

impl Small {
    fn writes(&self) -> Arc<Writes> {
        Arc::new(Writes {
            seed: self.seed,
            parameters: self.parameters.clone(),
            classes: ["write".to_owned()],
        })
    }

    fn questions(&self, count: u64) -> Arc<Questions> {
        let writes = self.writes();
        let mut answers = Reference::new(Arc::clone(&self.schema));
        let mut batch = Batch::new(0, &self.schema.tables[0]);
        for index in 0..self.parameters.writes {
            writes.readings(index, &mut batch);
        }
        answers.add(&batch);
        answers.prepare();
        Arc::new(Questions {
            seed: self.seed,
            count,
            parameters: self.parameters.clone(),
            answers,
            classes: ["point".to_owned(), "sum".to_owned()],
        })
    }

    fn mixed(&self, rate: u64) -> PhaseSpec {
        let Parameters { clients, .. } = self.parameters;
        let per_second = NonZeroU64::new(rate).expect("a rate in tests is not 0");
        let about = Some(About { phase: "mixed".to_owned(), load: "write".to_owned() });
        let writing = LoadSpec::writing("write", self.writes(), clients);
        let asking = LoadSpec {
            pacing: Pacing::Open(Schedule::per_second(per_second)),
            accompanies: true,
            about,
            ..LoadSpec::asking("ask", self.questions(1 << 40), clients, Checking::All)
        };
        PhaseSpec::new("mixed", vec![writing, asking])
    }
}

impl Workload for Small {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let Parameters { clients, processes, .. } = self.parameters;
        let load = PhaseSpec {
            processes,
            limit: self.parameters.limit_ms.map(Duration::from_millis),
            ..PhaseSpec::new("load", vec![LoadSpec::writing("write", self.writes(), clients)])
        };
        let about = About { phase: "load".to_owned(), load: "write".to_owned() };
        let questions = self.questions(self.parameters.questions);
        let ask =
            LoadSpec { about: Some(about), ..LoadSpec::asking("ask", questions, clients, Checking::All) };
        let mut steps = vec![
            Step::Run(load.label("clients", clients)),
            Step::Settle("settle".to_owned()),
            Step::Run(PhaseSpec::new("ask", vec![ask])),
        ];
        if let Some(rate) = self.parameters.rate {
            steps.extend([Step::Reset, Step::Run(self.mixed(rate))]);
        }
        steps
    }

    fn figures(&self, record: &mut TrialRecord) {
        let rate = record.loads[0].operations_per_second().unwrap_or(0.0);
        record.figures.insert("loads_per_second".to_owned(), Figure::new(rate, "loads/s"));
    }
}

struct Writes {
    seed: u64,
    parameters: Parameters,
    classes: [String; 1],
}

impl Writes {
    fn readings(&self, index: u64, batch: &mut Batch) {
        let sensor = u32::try_from(index % u64::from(SENSORS)).expect("small");
        let stream = Stream::new(self.seed, u64::from(sensor), 0);
        for row in 0..self.parameters.rows {
            let number = (index / u64::from(SENSORS)) * self.parameters.rows + row;
            batch.times_ns.push(time(number));
            batch.series.push(sensor);
            if let Values::F64(values) = &mut batch.columns[0].values {
                values.push(stream.normal(number));
            }
        }
    }
}

fn time(number: u64) -> i64 {
    1_000_000_000 + i64::try_from(number).expect("small") * STEP_NS
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        self.parameters.writes
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        if self.parameters.entities {
            let (batch, entity) = slot.upsert(0, Atomicity::Separate);
            self.readings(index, batch);
            entity.clear();
            entity.push(Value::Text(format!("hall {}", batch.series[0])));
        } else {
            self.readings(index, slot.write(0));
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

struct Questions {
    seed: u64,
    count: u64,
    parameters: Parameters,
    answers: Reference,
    classes: [String; 2],
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        self.count
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class(&self, index: u64) -> usize {
        // Both clients of a stride get both.
        usize::from(index % 4 >= 2)
    }

    fn least_watermark(&self) -> u64 {
        u64::from(SENSORS)
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let query = slot.ask();
        let stream = Stream::new(self.seed, 99, 0);
        let sensor = stream.word(2 * index) % u64::from(SENSORS);
        // Below operation `watermark`, each sensor has this many readings.
        let operations = watermark.min(self.parameters.writes) / u64::from(SENSORS);
        let readings = (operations * self.parameters.rows).max(1);
        let bound = NonZeroU64::new(readings).expect("at least one");
        let at = time(stream.below(2 * index + 1, bound));
        query.series = Selection::One(u32::try_from(sensor).expect("small"));
        if self.class(index) == 0 {
            query.range = TimeRange::new(at, at + 1);
            query.ask = Ask::Point { fields: FieldSet::first(1) };
        } else {
            query.range = TimeRange::new(at - 5 * STEP_NS, at + 1);
            query.ask = Ask::Aggregate {
                aggregates: vec![Aggregate { function: Function::Sum, field: 0 }],
                grouping: Grouping::default(),
                from_sums: false,
            };
        }
    }

    fn answer_len(&self, _index: u64, _query: &Query) -> Option<usize> {
        Some(1)
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        Some(self.answers.answer(query))
    }
}
