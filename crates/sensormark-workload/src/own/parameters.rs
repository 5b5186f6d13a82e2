//! Everything that a user's workload is made from: what the file says, in numbers. It travels to the trial's processes and into results as it is.

pub use super::file::DashboardPart;
pub use super::kind::QueryKind;
use super::layouts::{Indexes, Statements};
use super::lifecycle::TaskPart;
use super::limit::Limit;
use sensormark_data::devops::Walk;
use sensormark_data::iot_platform::Homes;
use sensormark_data::recording::RecordingOptions;
use sensormark_data::shapes::{meter, order::Order};
use sensormark_store::{DaySplit, Durability, TimeResolution};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most ticks of the data that is loaded.
const MOST_TICKS: u64 = 1 << 40;

/// A user's workload. Lengths of time in ns, shares from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The file's name, or what it calls itself.
    pub name: String,
    /// How often everything is measured.
    pub repetitions: u32,
    /// Stores, as on the command line, where that names none.
    pub stores: Vec<String>,
    /// Families of layouts, by name.
    pub layouts: Vec<String>,
    /// Which of the layouts are measured unasked, where a file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Indexes>,
    /// How writes travel in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<Statements>,
    /// Layouts that are measured unasked beside the usual one of each family, and no others, where a file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<Vec<String>>,
    /// Readings in a full document of the layout bucketed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<u32>,
    /// The hours (UTC) from which and up to which it is day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<[u32; 2]>,
    /// What has to hold.
    pub limits: Vec<Limit>,
    /// What an acknowledged write promises, where the command line does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Memory that each server may use for caches and heaps, where the command line does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_memory_bytes: Option<u64>,
    /// How long data are kept, which says how many readings there will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_ns: Option<i64>,
    /// The share of your readings that is measured, with the same share of your memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_proportion: Option<f64>,
    /// The readings.
    pub tables: Vec<TablePart>,
    /// What is dropped, summed up and compressed as the data's time passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<LifePart>,
    /// Who watches what: the panels' rates are those of these people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dashboards: Vec<DashboardPart>,
    /// What is done, in order.
    pub phases: Vec<PhasePart>,
}

impl Parameters {
    /// Readings that all sensors send in a second.
    pub fn readings_per_second(&self) -> f64 {
        self.tables.iter().map(|table| table.series.readings_per_second()).sum()
    }
}

/// Which part of a day counts as day: from 6 to 22, where a file does not say it.
pub fn split(day: Option<[u32; 2]>) -> DaySplit {
    let [day_start_ns, day_end_ns] = day.unwrap_or([6, 22]).map(|hour| i64::from(hour) * meter::HOUR_NS);
    DaySplit { day_start_ns, day_end_ns }
}

/// What becomes of the data as their own time passes; see [`super::life`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LifePart {
    /// How much of the data's time passes from one round of tasks to the next.
    pub every_ns: i64,
    /// What is older is dropped.
    pub keep_ns: Option<i64>,
    /// The share of readings that come after that.
    pub stale: f64,
    /// What is older is compressed.
    pub compress_after_ns: Option<i64>,
    /// Tables of aggregates.
    pub rollups: Vec<RollupPart>,
}

/// A table of aggregates by series and window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollupPart {
    /// Its name.
    pub name: String,
    /// Width of windows.
    pub every_ns: i64,
    /// Each column: the field's number, and what is computed of it.
    pub columns: Vec<(usize, QueryKind)>,
}

/// One table of readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePart {
    /// When readings are taken.
    pub series: SeriesPart,
    /// What identifies series.
    pub tags: Vec<TagPart>,
    /// What a reading holds.
    pub fields: Vec<FieldPart>,
}

impl TablePart {
    /// That what meters count is of the hours that they are said to count.
    ///
    /// # Errors
    /// What is not, in words.
    pub fn check_meters(&self) -> Result<(), String> {
        let SeriesPart { start_ns, interval_ns, .. } = self.series;
        let is_meter = |field: &FieldPart| matches!(field.shape, ShapePart::Meter(_));
        let wanted = (meter::START_NS, meter::HOUR_NS);
        let is_right = (start_ns, interval_ns) == wanted && self.series.ticks() <= meter::MOST_HOURS;
        if is_right || !self.fields.iter().any(is_meter) {
            return Ok(());
        }
        Err(format!(
            "meters count the hours from 2018 on, and there are {} hours of data: write start = \"2018-01-01T00:00:00Z\", interval = \"1h\" and no longer duration",
            meter::MOST_HOURS
        ))
    }
}

/// When readings are taken, of how many series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesPart {
    /// The table's name.
    pub table: String,
    /// How many series.
    pub count: u32,
    /// The first tick, in ns since the Unix epoch.
    pub start_ns: i64,
    /// From reading to reading of a series.
    pub interval_ns: i64,
    /// A reading is taken less than this after its tick.
    pub jitter_ns: i64,
    /// Series report one after the other within an interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub staggered: bool,
    /// So many readings of a series follow one another in a burst.
    pub burst: u32,
    /// From reading to reading of a burst.
    pub burst_interval_ns: i64,
    /// How much time the data that is loaded spans.
    pub duration_ns: i64,
    /// Readings that never come.
    pub missing: f64,
    /// Readings that come late.
    pub late: f64,
    /// How late at most.
    pub late_by_ns: i64,
    /// Readings that are sent twice.
    pub repeated: f64,
    /// The share of the series that end in a day, each with a new one in its place; see [`super::churn`].
    #[serde(default, skip_serializing_if = "is_none")]
    pub churn: f64,
    /// How finely times are kept, where it is coarser than lengths of time need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<TimeResolution>,
    /// What each series belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityKind>,
    /// What makes the readings, where shapes do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<Generator>,
}

/// What makes tables, tags and values that no file could describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// Hosts that watch themselves: nine tables of walks, which do this at their bounds.
    Devops(Walk),
    /// Homes whose devices send messages of typed values. A series has one field, and a turn is an hour of a home.
    Homes,
}

/// Things that series belong to: a row each, which a reading that is written alone updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// Consumption meters, with their owners and addresses.
    Meters,
}

fn is_none(share: &f64) -> bool {
    *share == 0.0
}

impl SeriesPart {
    /// Readings that the sensors send in a second.
    pub fn readings_per_second(&self) -> f64 {
        f64::from(self.count) * self.readings_a_turn() * 1e9 / self.interval_ns as f64
    }

    /// Readings in a turn, on average.
    pub fn readings_a_turn(&self) -> f64 {
        if self.generator == Some(Generator::Homes) { Homes::values_an_hour() } else { 1.0 }
    }

    /// Ticks of the data that is loaded.
    pub fn ticks(&self) -> u64 {
        u64::try_from(self.duration_ns / self.interval_ns.max(1)).unwrap_or(0)
    }

    /// Turns of all series in so much time.
    pub fn turns(&self, span_ns: i64) -> u64 {
        let ticks = u64::try_from(span_ns / self.interval_ns.max(1)).unwrap_or(0);
        ticks.saturating_mul(u64::from(self.count))
    }

    /// Whether so much data is long enough for what is late.
    pub fn has_room(&self, span_ns: i64) -> bool {
        Self { duration_ns: span_ns, ..self.clone() }.check_duration().is_ok()
    }

    /// Checks that the data is long enough for what is late, and not too long.
    ///
    /// # Errors
    /// What is wrong, with both values.
    pub fn check_duration(&self) -> Result<(), String> {
        let is_regular = self.late + self.repeated == 0.0;
        let (ticks, beyond) = (self.ticks(), if is_regular { 0 } else { self.late_ticks() + 2 });
        if ticks <= beyond {
            return Err(format!(
                "duration is {ticks} intervals, and it must be more than {beyond}: late readings come up to {} intervals late; make duration longer, or late_by shorter",
                self.late_ticks()
            ));
        }
        if ticks > MOST_TICKS {
            return Err(format!(
                "duration is {ticks} intervals, and {MOST_TICKS} is the most; make duration shorter, or interval longer"
            ));
        }
        Ok(())
    }

    /// Ticks that a late reading is late at most.
    pub fn late_ticks(&self) -> u64 {
        if self.late > 0.0 {
            u64::try_from(self.late_by_ns / self.interval_ns.max(1)).map_or(1, |ticks| ticks.max(1))
        } else {
            0
        }
    }
}

/// An identifying column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagPart {
    /// Its name.
    pub name: String,
    /// Its values; one of its own for each series where there are none.
    pub values: Vec<String>,
    /// What a series' own value looks like: {} stands for its number.
    pub pattern: String,
    /// Whole numbers from this one on, and no texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
}

/// Types of fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// True or false.
    Bool,
    /// Whole numbers of 64 bits.
    Integer,
    /// Floating point numbers of 64 bits.
    #[default]
    Float,
    /// Text.
    Text,
}

impl FieldKind {
    /// Whether its values are numbers.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float)
    }
}

/// A value column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldPart {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: FieldKind,
    /// How it moves.
    pub shape: ShapePart,
    /// Standard deviation of noise.
    pub noise: f64,
    /// Decimal places that are kept.
    pub decimals: Option<u8>,
    /// Binary places that are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u8>,
    /// The share of values that are the one before again.
    #[serde(default)]
    pub repeats: f64,
    /// The share of values that lie anywhere within the bounds.
    #[serde(default)]
    pub outliers: f64,
    /// How long a random value is kept; 0 for one reading.
    pub hold_ns: i64,
}

/// How a field moves; see `dataset::shapes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapePart {
    /// A number that stays.
    Constant(f64),
    /// Uniform between bounds.
    Random {
        /// From here.
        min: f64,
        /// To here.
        max: f64,
    },
    /// Up and down.
    Sine {
        /// From here.
        min: f64,
        /// To here.
        max: f64,
        /// In this time, and back.
        period_ns: u64,
    },
    /// Up, then from below again.
    Sawtooth {
        /// From here.
        min: f64,
        /// To here.
        max: f64,
        /// In this time.
        period_ns: u64,
    },
    /// Wandering.
    Walk {
        /// Not below.
        min: f64,
        /// Not above.
        max: f64,
        /// The longest swing.
        period_ns: u64,
    },
    /// Growing.
    Counter {
        /// From here.
        start: f64,
        /// By so much a reading, on average.
        step: f64,
    },
    /// A room's.
    Temperature,
    /// A consumption meter's, the field's number there.
    Meter(usize),
    /// True with this chance.
    Chance(f64),
    /// A truth value that stays.
    Truth(bool),
    /// One of these texts.
    Words(Vec<String>),
    /// A column of a CSV file.
    Recorded {
        /// The file.
        file: PathBuf,
        /// The column's name.
        column: String,
        /// How the file is read.
        #[serde(default)]
        options: Box<RecordingOptions>,
    },
    /// As the generator has it.
    #[default]
    Generated,
}

/// A phase: writers and queries at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct PhasePart {
    /// Its name.
    pub name: String,
    /// Everything that was written before is gone when it begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// After it the database comes to rest, under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// Processes that share its clients; one where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// What it stands for in tables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Value>,
    /// A size begins with it: the readings that are stored when its writers have loaded. 0: it is of no size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// A life's round of tasks is due beside it, of this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// How long; none where it ends with what its writers load.
    pub duration_ns: Option<u64>,
    /// Whether the budget says how long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_budget: bool,
    /// How long queries are asked before that without counting.
    pub warm_up_ns: u64,
    /// One of so many answers is compared in full.
    pub check_one_in: u64,
    /// Who writes, a group for a table at most.
    pub writers: Vec<WritersPart>,
    /// What is asked.
    pub queries: Vec<QueryPart>,
    /// What is done to the database meanwhile; its clients work for the duration before it, and as long after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskPart>,
}

/// Clients that write one table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritersPart {
    /// Their name in results and limits.
    pub name: String,
    /// The table's number.
    pub table: usize,
    /// Whether they write all tables side by side; what else is said is then of each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// How many.
    pub clients: u32,
    /// Turns of sensors in an operation; 0 for what the database's documentation advises.
    pub batch: u64,
    /// So many times what it advises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advised: Option<f64>,
    /// Turns a second, of all clients; none for as fast as they can.
    pub rate: Option<f64>,
    /// How much time the data that they write spans; none where they write until the phase ends.
    pub load_ns: Option<i64>,
    /// How many turns they write, in place of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readings: Option<u64>,
    /// Whether a turn is a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub messages: bool,
    /// So many series have so many turns each before the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<(u32, u64)>,
    /// Whether a reading and its entity's update are one commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
}

impl WritersPart {
    /// Whether they write a table, by its number.
    pub fn is_of(&self, table: usize) -> bool {
        self.all || self.table == table
    }

    /// In which order series have their turns.
    pub fn order(&self, series: &SeriesPart) -> Order {
        if self.messages {
            return Order::of_time(1);
        }
        let (together, block) = self.order.unwrap_or((series.count, 1));
        Order { series: series.count, together, block }
    }

    /// Whether they write several readings of series with an entity at once, and the last ones of each block alone.
    pub fn is_bulk(&self, series: &SeriesPart) -> bool {
        series.entity.is_some() && self.batch != 1 && self.order(series).block > 1
    }

    /// How many turns they write of a table with these series; none where they write until the phase ends.
    pub fn turns(&self, series: &SeriesPart) -> Option<u64> {
        self.readings.or_else(|| Some(series.turns(self.load_ns?)))
    }
}

/// Which series a query is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfPart {
    /// One, drawn.
    One,
    /// One, drawn by what was written of it: others may have nothing yet.
    Written,
    /// One after the other, of those that were written.
    Each,
    /// So many, drawn.
    Several(u32),
    /// All.
    All,
    /// Those with one value of a tag, drawn.
    Tag(String),
    /// One after the other, of those with these values of tags.
    With(BTreeMap<String, String>),
}

/// How an aggregate is grouped, beside its window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByPart {
    /// Not.
    Nothing,
    /// By series.
    Series,
    /// By a tag's values.
    Tag(String),
    /// By day and by night.
    DayAndNight(DaySplit),
}

/// Which time a query is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenPart {
    /// Any time of the data.
    Anywhere,
    /// The latest that is acknowledged.
    Latest,
    /// Any time of what the last writers before it wrote.
    New,
}

/// One kind of question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryPart {
    /// Its name in results and limits.
    pub name: String,
    /// The table's number.
    pub table: usize,
    /// What is asked.
    pub kind: QueryKind,
    /// The fields.
    pub fields: Vec<String>,
    /// Of which each question draws so many; it is about all of them where there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<usize>,
    /// Which series.
    pub of: OfPart,
    /// Grouping beside the window.
    pub by: ByPart,
    /// How much time it is about; none for a point, and for all time where it is the latest value.
    pub span_ns: Option<i64>,
    /// That time begins at a multiple of this after the data's beginning, and all of it is there. Questions with the same span and step are about the same times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<i64>,
    /// The tick with which that time begins, where all questions are about the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Width of windows.
    pub window_ns: Option<i64>,
    /// Whether records are first narrowed by their day, where a layout has such records; it is asked of others too where this says yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_day: Option<bool>,
    /// Whether sums are read that were kept at write time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_sums: bool,
    /// Which time.
    pub when: WhenPart,
    /// A threshold: values above it pass.
    pub above: Option<f64>,
    /// A threshold: values below it pass.
    pub below: Option<f64>,
    /// Clients that ask.
    pub clients: u32,
    /// Questions a second, of all clients; none for as fast as they can.
    pub rate: Option<f64>,
    /// How many questions; none for as many as there is time for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The file that is made of the first answer about each series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}
