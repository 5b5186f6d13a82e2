//! What the devices of homes send to an IoT platform: typed properties, some at an interval with jitter, some on events.
//!
//! A device has things, a thing has properties ([`devices`]). Each property of a home is one series. A thing has *turns*, one each `every_s` seconds from
//! [`START_NS`] on. In most turns one message comes. It holds a value of each of the thing's properties, all of the same time. A message comes within its turn,
//! so that the times of a series ascend and an hour's readings are those of the hour's turns.
//!
//! Everything is a pure function of (seed, home, property, turn), had at once and without what came before ([`signal`]).
//!
//! The study measured its author's own home, whose data is not published. Its figures are the devices, the period, the number of values (5,594,177) and of the
//! weather station's temperatures (8,500 in 90 days, 33,000 in its year). How values move is ours.
//!
//! It is not where readings are written or asked about: `workload::own` does that, as `shipped/iot-platform.toml` says.

pub mod devices;
pub mod signal;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use devices::{HOME, Property, RHYTHM, few};
use signal::Turn;

/// When everything begins: 27 September 2021, midnight UTC, in ns since the Unix epoch.
pub const START_NS: i64 = 1_632_700_800 * SECOND_NS;
/// An hour, in ns.
pub const HOUR_NS: i64 = 3_600 * SECOND_NS;
/// A day, in ns.
pub const DAY_NS: i64 = 24 * HOUR_NS;
/// Most days of data: a century.
pub const MOST_DAYS: u32 = 36_525;
/// Most homes.
pub const MOST_HOMES: u32 = 10_000;

const SECOND_NS: i64 = 1_000_000_000;
const MILLISECOND_NS: i64 = 1_000_000;
/// Streams of a thing's first property beside those of values and drifts.
const PHASE: u64 = 2;
const JITTER: u64 = 3;
const COMES: u64 = 4;

/// The homes and what their devices send.
#[derive(Debug, Clone, Copy)]
pub struct Homes {
    seed: u64,
    /// How many homes there are.
    pub homes: u32,
}

/// One message: what a thing of a home sends at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// When, in ns since the Unix epoch.
    pub time_ns: i64,
    /// The home.
    pub home: u32,
    /// The thing's number in the home.
    thing: u32,
    /// The thing's turn.
    turn: u64,
}

impl Homes {
    /// So many homes under a seed.
    ///
    /// # Panics
    /// When there is no home, or more than [`MOST_HOMES`]: defects of the caller.
    pub fn new(seed: u64, homes: u32) -> Self {
        assert!((1..=MOST_HOMES).contains(&homes), "there are homes");
        Self { seed, homes }
    }

    /// How many series a home has. Those of home h are numbers h · this and up.
    pub fn series_a_home(&self) -> u32 {
        few(HOME.properties.len())
    }

    /// The type of a series' values.
    pub fn kind(&self, series: u32) -> FieldType {
        self.property(series).signal.kind()
    }

    /// Values that a home sends in an hour, about.
    pub fn values_an_hour() -> f64 {
        HOME.things
            .iter()
            .map(|thing| 3_600.0 / thing.every_s as f64 * thing.share * thing.properties.len() as f64)
            .sum()
    }

    fn property(&self, series: u32) -> &'static Property {
        &HOME.properties[(series % self.series_a_home()) as usize]
    }

    fn stream(&self, series: u32, number: u64) -> Stream {
        Stream::new(self.seed, series as u64, number)
    }

    /// The message of a thing's turn, if one comes.
    #[inline]
    fn message(&self, home: u32, number: usize, turn: u64) -> Option<Message> {
        let thing = &HOME.things[number];
        let stream = |number| self.stream(home * self.series_a_home() + thing.properties.start, number);
        let every_ms = thing.every_s as u64 * 1_000;
        let start_ms = turn * every_ms;
        if thing.share < 1.0 {
            let hour = usize::try_from(start_ms / 3_600_000 % 24).unwrap_or(0);
            let weight = if thing.by_people { RHYTHM[hour] as f64 / 10.0 } else { 1.0 };
            if stream(COMES).unit(turn) >= thing.share * weight {
                return None;
            }
        }
        // From the turn's beginning to the earliest time of its message, and from there to the message.
        let phase_ms = stream(PHASE).below(0, every_ms - thing.jitter_ms as u64);
        let jitter_ms = stream(JITTER).below(turn, thing.jitter_ms);
        Some(Message {
            time_ns: START_NS + (start_ms + phase_ms + jitter_ms).cast_signed() * MILLISECOND_NS,
            home,
            thing: few(number),
            turn,
        })
    }

    /// Appends the messages that a home sends in these hours, counted from the start, in the order of time.
    pub fn messages(&self, home: u32, hours: Range<u64>, messages: &mut Vec<Message>) {
        let first = messages.len();
        for (number, thing) in HOME.things.iter().enumerate() {
            let an_hour = (3_600 / thing.every_s) as u64;
            let turns = hours.start * an_hour..hours.end * an_hour;
            messages.extend(turns.filter_map(|turn| self.message(home, number, turn)));
        }
        messages[first..].sort_unstable();
    }

    /// Appends what a message holds, one reading a property.
    #[inline]
    pub fn push(&self, message: &Message, batch: &mut Batch) {
        for property in HOME.things[message.thing as usize].properties.clone() {
            let series = message.home * self.series_a_home() + property;
            self.push_value(series, message.time_ns, message.turn, batch);
        }
    }

    #[inline]
    fn push_value(&self, series: u32, time_ns: i64, turn: u64, batch: &mut Batch) {
        let property = self.property(series);
        let [value, drift] = [0, 1].map(|number| self.stream(series, number));
        let every_s = HOME.things[property.thing].every_s;
        let value = property.signal.value(&Turn { number: turn, time_ns, every_s, value, drift });
        batch.times_ns.push(time_ns);
        batch.series.push(series);
        let field = field(property.signal.kind());
        batch.columns[field].push(value).expect("a value of the column's type");
        batch
            .columns
            .iter_mut()
            .enumerate()
            .filter(|(number, _)| *number != field)
            .for_each(|(_, column)| column.push_null());
    }

    /// Appends what a home sends in these hours, in the order of time.
    pub fn push_hours(&self, home: u32, hours: Range<u64>, batch: &mut Batch) {
        let mut messages = Vec::new();
        self.messages(home, hours, &mut messages);
        for message in &messages {
            self.push(message, batch);
        }
    }

    /// Appends the readings of a series in a range of time that began at the start or later, in the order of time.
    pub fn push_series(&self, series: u32, range: TimeRange, batch: &mut Batch) {
        let property = self.property(series);
        let every_ns = (HOME.things[property.thing].every_s) as i64 * SECOND_NS;
        let turn = |time_ns: i64| (time_ns.saturating_sub(START_NS).max(0) / every_ns).cast_unsigned();
        let home = series / self.series_a_home();
        for turn in turn(range.start_ns)..=turn(range.end_ns) {
            let message = self.message(home, property.thing, turn);
            if let Some(message) = message.filter(|message| range.contains(message.time_ns)) {
                self.push_value(series, message.time_ns, turn, batch);
            }
        }
    }
}

/// The field of a type.
pub fn field(kind: FieldType) -> usize {
    match kind {
        Bool => 0,
        I64 | U16 => 1,
        F64 => 2,
        Text => 3,
    }
}

/// What the values of so many homes look like: tags device_id, device_name, thing_id and property_id, and a field for each type, of which a value fills one.
pub fn schema(homes: u32) -> Schema {
    let mut tags: [Vec<String>; 4] = Default::default();
    for (home, property) in (0..homes).cartesian_product(&HOME.properties) {
        let thing = &HOME.things[property.thing];
        let device = match (home, HOME.devices[thing.device]) {
            (0, name) => name.to_owned(),
            (_, name) => format!("{name}, home {}", home + 1),
        };
        let id = device_id(home, thing.device);
        let values = [id, device, thing.name.to_owned(), property.name.to_owned()];
        tags.iter_mut().zip(values).for_each(|(tag, value)| tag.push(value));
    }
    // Of all properties on average: some are sent each minute, some a few times a day.
    let interval_ns =
        seconds_to_ns(3_600.0 * HOME.properties.len() as f64 / Homes::values_an_hour()).cast_signed();
    let fields = [("value_bool", Bool), ("value_int", I64), ("value_float", F64), ("value_string", Text)];
    Schema {
        tables: vec![table(
            "property_values",
            &["device_id", "device_name", "thing_id", "property_id"],
            fields.map(|(name, kind)| Field { name: name.to_owned(), kind, nullable: true }),
            TimeResolution::Milliseconds,
            Series::new(tags.map(TagColumn::Text).into()).every(interval_ns),
        )],
    }
}

/// The identifier of a device: 24 hexadecimal digits, as the platform's database makes them, the same under every seed.
fn device_id(home: u32, device: usize) -> String {
    let word = finalise((u64::from(home) << 32) | (device as u64 + 1));
    format!("614f{:04x}{word:016x}", home & 0xffff)
}
