//! What asking clients issue, and the answers that are due.

use super::query::{PlatformQuery, statistics};
use super::writes::Written;
use sensormark_conformance::reference::Reference;
use sensormark_data::iot_platform::{DAY_NS, DEVICE_ID, Homes, START_NS, device_id, devices::HOME, field};
use sensormark_data::random::Stream;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, DaySplit, FieldType, Query, Schema, Selection, TimeRange,
};
use std::num::NonZeroU64;
use std::sync::Arc;

/// The series number of this workload's stream; data sets use small ones.
const STREAM: u64 = u64::MAX - 1;

/// What questions need besides their kind.
#[derive(Debug, Clone)]
pub struct Subjects {
    /// What is there.
    pub homes: Arc<Homes>,
    /// Its schema.
    pub schema: Arc<Schema>,
    /// How it was loaded.
    pub load: Arc<dyn Written>,
    /// The seed of the questions.
    pub seed: u64,
    /// Which part of a day counts as day.
    pub split: DaySplit,
    /// The most points of a chart.
    pub points: u32,
}

/// Questions of one query over one span.
#[derive(Debug)]
pub struct Questions {
    subjects: Subjects,
    query: PlatformQuery,
    days: u32,
    count: u64,
    stream: Stream,
    /// Series with numbers: of these there are charts.
    numeric: Vec<u32>,
    classes: [String; 1],
}

impl Questions {
    /// So many questions of a query over so many days.
    pub fn new(subjects: &Subjects, query: PlatformQuery, days: u32, count: u64) -> Self {
        let homes = &subjects.homes;
        let is_number = |series: &u32| matches!(homes.kind(*series), FieldType::I64 | FieldType::F64);
        // The same stretches for all queries that begin at the same steps.
        let kind = u64::from(days) * 2 + u64::from(query.step_ns() == DAY_NS);
        Self {
            numeric: (0..homes.series()).filter(is_number).collect(),
            stream: Stream::new(subjects.seed, STREAM, kind),
            subjects: subjects.clone(),
            query,
            days,
            count,
            classes: [query.name().to_owned()],
        }
    }

    const fn span_ns(&self) -> i64 {
        self.days as i64 * DAY_NS
    }

    /// The instant up to which everything is there.
    fn end_ns(&self, watermark: u64) -> i64 {
        self.subjects.load.end_ns(watermark)
    }

    /// The stretch of a question: the last ones for what the platform shows now, else anywhere.
    fn range(&self, index: u64, watermark: u64) -> TimeRange {
        let end_ns = self.end_ns(watermark);
        let latest =
            matches!(self.query, PlatformQuery::Chart | PlatformQuery::Statistics | PlatformQuery::Latest);
        let start_ns = if latest {
            end_ns - self.span_ns()
        } else {
            let step_ns = self.query.step_ns();
            let steps = (end_ns - START_NS - self.span_ns()) / step_ns + 1;
            let steps = NonZeroU64::new(u64::try_from(steps).unwrap_or(1));
            let step = self.stream.below(index, steps.unwrap_or(NonZeroU64::MIN));
            START_NS + i64::try_from(step).unwrap_or(0) * step_ns
        };
        TimeRange::new(start_ns, start_ns + self.span_ns())
    }

    /// The device of a question: each has its turn.
    fn device(&self, index: u64) -> String {
        let all = self.subjects.homes.homes as usize * HOME.devices.len();
        let device = usize::try_from(index).unwrap_or(0) % all;
        device_id(u32::try_from(device / HOME.devices.len()).unwrap_or(0), device % HOME.devices.len())
    }

    fn question(&self, index: u64, watermark: u64) -> Query {
        let Subjects { homes, split, .. } = &self.subjects;
        let range = self.range(index, watermark);
        let place = |length: u64| index % length.max(1);
        let home = u32::try_from(place(u64::from(homes.homes))).unwrap_or(0);
        match self.query {
            PlatformQuery::Chart => {
                let place = usize::try_from(place(self.numeric.len() as u64)).unwrap_or(0);
                let series = self.numeric[place];
                let of = field(homes.kind(series));
                Query::chart(0, series, range, of, self.subjects.points)
            }
            PlatformQuery::Statistics => statistics(self.device(index), range),
            PlatformQuery::Latest => {
                // What tells homes apart is in the names of devices.
                let series = match homes.homes {
                    1 => Selection::All,
                    _ => Selection::Tagged { tag: DEVICE_ID, value: self.device(index) },
                };
                let fields = self.subjects.schema.tables[0].all_fields();
                Query { table: 0, series, range, ask: Ask::LastReading { fields } }
            }
            query => query
                .of_temperature(homes.weather(home), range, *split)
                .expect("all others are about a temperature"),
        }
    }

    /// The readings that a question is about, generated anew.
    fn readings(&self, query: &Query) -> Batch {
        let table = &self.subjects.schema.tables[0];
        let mut batch = Batch::new(0, table);
        let series = match &query.series {
            Selection::One(one) => vec![*one],
            Selection::Set(set) => set.clone(),
            Selection::Tagged { tag, value } => table.series.with_tag(*tag, value),
            Selection::All => (0..table.series.len()).collect(),
        };
        for series in series {
            let homes = &self.subjects.homes;
            homes.push_series(series, query.range, &mut batch);
        }
        batch
    }
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        self.count
    }

    fn extent(&self) -> Extent {
        let homes = &self.subjects.homes;
        // A device's share of a home's values, or that of one of its properties.
        let parts = match self.query {
            PlatformQuery::Statistics => HOME.devices.len() as f64,
            PlatformQuery::Latest => 1.0,
            _ => f64::from(homes.series() / homes.homes.max(1)),
        };
        Extent::of(Homes::values_an_hour() * 24.0 * f64::from(self.days) / parts.max(1.0))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        *slot.ask() = self.question(index, watermark);
    }

    fn least_watermark(&self) -> u64 {
        self.subjects.load.writes_of(u64::from(self.days) * 24)
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        let mut reference = Reference::new(Arc::clone(&self.subjects.schema));
        reference.add(&self.readings(query));
        reference.prepare();
        Some(reference.answer(query))
    }
}
