//! Questions about a recording: question i is a pure function of the recording, the seed and i.

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;

use sensormark_store::{
    Aggregate, Answer, AnswerSource, Ask, FieldSet, FieldType, Function, Grouping, Query, Selection,
    TimeRange, Window,
};
use serde::{Deserialize, Serialize};

use super::Replay;
use sensormark_data::random::Stream;

/// How often another reading is drawn where a question would touch a repeated time.
const DRAWS: u64 = 64;
/// Random words that a draw may use.
const WORDS: u64 = 2;
/// The series number of this workload's stream; data sets use small ones.
const STREAM: u64 = u64::MAX;
/// That of the stream which draws copies.
const COPIES: u64 = STREAM - 1;

/// A kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// All fields of one reading.
    Point,
    /// All fields of the readings of a stretch.
    Range,
    /// Means of a field by window.
    WindowMean,
    /// The smallest value of a field and its time.
    Minimum,
    /// The largest value of a field.
    Maximum,
    /// The latest value of a field before a time.
    LastValue,
}

impl Class {
    /// All classes, in the order in which they take turns.
    pub const ALL: [Self; 6] =
        [Self::Point, Self::Range, Self::WindowMean, Self::Minimum, Self::Maximum, Self::LastValue];

    /// The class's name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Range => "range",
            Self::WindowMean => "window mean",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::LastValue => "last value",
        }
    }

    const fn needs_number(self) -> bool {
        matches!(self, Self::WindowMean | Self::Minimum | Self::Maximum)
    }

    /// Whether the answer has an order of readings, or one reading of several of a time.
    const fn shuns_repeated_times(self) -> bool {
        matches!(self, Self::Point | Self::Range | Self::LastValue)
    }
}

/// Questions about a recording, the classes in turns.
#[derive(Debug, Clone)]
pub struct Questions {
    replay: Arc<Replay>,
    /// One a class, of all classes.
    streams: [Stream; Class::ALL.len()],
    /// Draws which copy a question is about.
    copy: Stream,
    /// How many copies there are.
    copies: NonZeroU64,
    /// (series, time) that more than one reading has, in the stored readings.
    repeated: Arc<BTreeSet<(u32, i64)>>,
    numeric: Vec<usize>,
    classes: Vec<Class>,
    names: Vec<String>,
    per_class: u64,
    notes: Vec<String>,
}

impl Questions {
    /// So many questions of each class.
    pub fn new(replay: Arc<Replay>, seed: u64, per_class: u64) -> Self {
        let fields = &replay.schema().tables[0].fields;
        let is_number = |kind| matches!(kind, FieldType::I64 | FieldType::F64 | FieldType::U16);
        let numeric: Vec<usize> = (0..fields.len()).filter(|&field| is_number(fields[field].kind)).collect();
        let mut questions = Self {
            streams: Class::ALL.map(|class| Stream::new(seed, STREAM, class as u64)),
            copy: Stream::new(seed, COPIES, 0),
            copies: NonZeroU64::MIN,
            repeated: Arc::new(repeated_times(&replay)),
            replay,
            numeric,
            classes: Vec::new(),
            names: Vec::new(),
            per_class,
            notes: Vec::new(),
        };
        for class in Class::ALL {
            if class.needs_number() && questions.numeric.is_empty() {
                questions.leave_out(class, "no field is a number");
            } else if class == Class::WindowMean && questions.replay.spans().first_ns < 0 {
                questions.leave_out(class, "readings are before 1970");
            } else if (0..8).all(|number| questions.draw(class, number).is_none()) {
                questions.leave_out(class, "every stretch holds a time twice");
            } else {
                questions.classes.push(class);
                questions.names.push(class.name().to_owned());
            }
        }
        questions
    }

    /// The questions of one class, in the same order; none where there are none of it.
    #[must_use]
    pub fn only(&self, class: Class) -> Option<Self> {
        self.classes.contains(&class).then(|| Self {
            classes: vec![class],
            names: vec![class.name().to_owned()],
            notes: Vec::new(),
            ..self.clone()
        })
    }

    /// So many of the same kinds, about any of so many copies.
    #[must_use]
    pub fn of_copies(self, copies: u32, per_class: u64) -> Self {
        Self { copies: NonZeroU64::new(copies.into()).unwrap_or(NonZeroU64::MIN), per_class, ..self }
    }

    /// Readings that a question of the first class has to look at, about: a phase has one class alone.
    pub(super) fn readings_looked_at(&self) -> f64 {
        let all = self.replay.readings().len() as f64 / f64::from(self.replay.own_series.max(1));
        let parts = match self.classes.first() {
            Some(Class::Range) => 100.0,
            Some(Class::WindowMean) => 4.0,
            Some(Class::Minimum | Class::Maximum) => 10.0,
            Some(Class::Point | Class::LastValue) | None => return 1.0,
        };
        (all / parts).max(1.0)
    }

    fn leave_out(&mut self, class: Class, why: &str) {
        self.notes.push(format!("no questions of class {}: {why}", class.name()));
    }

    /// How many questions there are.
    pub const fn len(&self) -> u64 {
        self.per_class * self.classes.len() as u64
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes that there are.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Their names.
    pub fn class_names(&self) -> &[String] {
        &self.names
    }

    /// The class of question `index`, as a place in [`Questions::class_names`].
    pub fn class(&self, index: u64) -> usize {
        let place = index % (self.classes.len().max(1) as u64);
        usize::try_from(place).expect("few classes")
    }

    /// What a reader of the result should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Question number `index`.
    ///
    /// # Panics
    /// When there are no questions.
    pub fn question(&self, index: u64) -> Query {
        let class = self.classes[self.class(index)];
        (index / self.classes.len() as u64..)
            .find_map(|number| self.draw(class, number))
            .expect("a class without questions was left out")
    }

    /// The answer that is due.
    pub fn answer(&self, query: &Query) -> Answer {
        self.replay.answer(query)
    }

    /// The first draw for the question of this number of a class that touches no repeated time, where it must not.
    fn draw(&self, class: Class, number: u64) -> Option<Query> {
        (0..DRAWS)
            .map(|draw| self.drawn(class, (number * DRAWS + draw) * WORDS))
            .find(|query| !class.shuns_repeated_times() || !self.touches_repeated(class, query))
    }

    /// A question about a random reading's series and surroundings.
    fn drawn(&self, class: Class, word: u64) -> Query {
        let spans = self.replay.spans();
        let readings = self.replay.readings();
        let row = self.below(class, word, readings.len());
        let copy = u32::try_from(self.copy.below(word, self.copies)).expect("copies are counted in 32 bits");
        let (series, time_ns) =
            (copy * self.replay.own_series + readings.series[row], readings.times_ns[row]);
        let fields = FieldSet::first(readings.columns.len());
        let field = |of: &[usize]| of[self.below(class, word + 1, of.len())];
        // A stretch of this length that holds the reading and does not reach beyond the recording.
        let around = |span_ns: i64| {
            let start_ns = time_ns.min(spans.end_ns - span_ns);
            TimeRange::new(start_ns, start_ns + span_ns)
        };
        let (range, ask) = match class {
            Class::Point => (TimeRange::new(time_ns, time_ns + 1), Ask::Point { fields }),
            Class::Range => (around(spans.range_ns), Ask::Range { fields, coarse_filter: false }),
            Class::WindowMean => (
                around(spans.windows_ns),
                aggregate(
                    Function::Mean,
                    field(&self.numeric),
                    Some(Window { width_ns: spans.window_ns, origin_ns: 0 }),
                ),
            ),
            Class::Minimum => {
                let field = field(&self.numeric);
                (around(spans.extreme_ns), Ask::Minimum { field })
            }
            Class::Maximum => {
                let field = field(&self.numeric);
                (around(spans.extreme_ns), aggregate(Function::Max, field, None))
            }
            Class::LastValue => {
                let all: Vec<usize> = fields.iter().collect();
                let fields = FieldSet::one(field(&all));
                (TimeRange::new(spans.first_ns, time_ns + 1), Ask::LastReading { fields })
            }
        };
        Query { table: 0, series: Selection::One(series), range, ask }
    }

    fn below(&self, class: Class, word: u64, bound: usize) -> usize {
        let bound = NonZeroU64::new(bound as u64).expect("there are readings and fields");
        usize::try_from(self.streams[class as usize].below(word, bound)).expect("below a number of readings")
    }

    fn touches_repeated(&self, class: Class, query: &Query) -> bool {
        let Selection::One(series) = query.series else {
            return false;
        };
        if self.repeated.is_empty() {
            return false;
        }
        let series = series % self.replay.own_series;
        if class == Class::LastValue {
            // Readings before the last one do not matter.
            return match self.answer(query) {
                Answer::Readings(last) => {
                    (last.times_ns.iter()).any(|&time_ns| self.repeated.contains(&(series, time_ns)))
                }
                _ => false,
            };
        }
        let (start, end) = (query.range.start_ns, query.range.end_ns);
        let mut keys = self.repeated.range((series, start)..(series, end));
        keys.next().is_some()
    }
}

fn aggregate(function: Function, field: usize, window: Option<Window>) -> Ask {
    Ask::Aggregate {
        aggregates: vec![Aggregate { function, field }],
        grouping: Grouping { window, ..Grouping::default() },
        from_sums: false,
    }
}

/// The keys that several stored readings share.
fn repeated_times(replay: &Replay) -> BTreeSet<(u32, i64)> {
    let mut repeated = BTreeSet::new();
    replay.reference().scan(0, &mut |batch| {
        // In the order of (series, time).
        for row in 1..batch.len() {
            let key = (batch.series[row], batch.times_ns[row]);
            if key == (batch.series[row - 1], batch.times_ns[row - 1]) {
                repeated.insert(key);
            }
        }
    });
    repeated
}
