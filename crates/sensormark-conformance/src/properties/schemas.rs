//! Random scenes: schemas, layouts and readings of everything that the contract allows.
//!
//! All choices are small numbers, which shrink towards the plainest: fewer tables, tags, fields and readings, then plain values at plain times.

use super::scene::{Reading, Scene};
use crate::data::{BASE, DAY, HOUR, MINUTE, SECOND, SPLIT, mix};
use proptest::collection::vec;
use proptest::prelude::*;
use sensormark_store::layout::{Family, Layout, Shape, WriteMethod};
use sensormark_store::query::TimeRange;
use sensormark_store::schema::{
    Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};
use sensormark_store::store::Store;
use std::collections::HashSet;
use std::sync::Arc;

/// Names, words of query languages and of layouts among them.
const NAMES: [&str; 24] = [
    "a",
    "value",
    "time",
    "series",
    "order",
    "select",
    "group",
    "key",
    "id",
    "user",
    "timestamp",
    "ns",
    "name",
    "tag",
    "index",
    "table",
    "from",
    "desc",
    "limit",
    "a_1",
    "day",
    "count",
    "readings",
    "a_name_of_forty_bytes_which_is_the_limit",
];

/// Texts that need care somewhere. Tags hold them too.
const TEXTS: [&str; 24] = [
    "a",
    "",
    " ",
    "b",
    "A",
    "two words",
    "it's",
    "\"q\"",
    "back\\",
    "\\\\n",
    "comma,equals=",
    "line\nbreak\r\t",
    "null",
    "true",
    "1",
    "-0.5",
    "%s$1?:x{}",
    "ä ö ß",
    "a\u{308}",
    "☕😀",
    "日本語",
    "'; drop table a; --",
    "\u{1}\u{7f}\u{2028}",
    "a ",
];

const WHOLES: [i64; 16] = [
    0,
    1,
    -1,
    2,
    10,
    65_535,
    65_536,
    -65_536,
    1 << 31,
    -(1 << 31) - 1,
    1 << 53,
    (1 << 53) + 1,
    -(1 << 53) - 1,
    i64::MAX,
    i64::MIN + 1,
    i64::MIN,
];

const REALS: [f64; 16] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.0,
    0.1,
    1.0 / 3.0,
    -123_456_789.123_456_79,
    9_007_199_254_740_993.0,
    f64::from_bits(1),
    f64::MIN_POSITIVE,
    -1e-308,
    1e22,
    -1e300,
    f64::MAX,
    f64::MIN,
];

/// Where times lie: amid a day, around midnight and the parts of a day, at the ends of what the contract allows.
const ANCHORS: [i64; 8] = [
    BASE + HOUR,
    BASE - MINUTE,
    BASE + 6 * HOUR - SECOND,
    BASE + 22 * HOUR - SECOND,
    BASE + 31 * DAY,
    0,
    4_102_444_800 * SECOND,
    LAST - 2 * DAY,
];

/// The latest time that a reading may have.
const LAST: i64 = TimeRange::OF_READINGS.end_ns - 1;

const STEPS: [i64; 7] = [SECOND, MINUTE, HOUR, 1_000_000, 1_000, 1, DAY];

/// The choices for one table.
#[derive(Debug, Clone)]
struct TableChoice {
    name: usize,
    resolution: u8,
    /// Name, and whether values are integers.
    tags: Vec<(usize, bool)>,
    /// Name, type, whether a reading may lack it.
    fields: Vec<(usize, u8, bool)>,
    /// A value of each tag.
    series: Vec<[u16; 3]>,
}

/// The choices for one reading.
#[derive(Debug, Clone)]
struct ReadingChoice {
    table: u8,
    series: u8,
    anchor: usize,
    unit: usize,
    step: u8,
    values: Vec<u16>,
}

/// The choices for the layout.
#[derive(Debug, Clone)]
struct LayoutChoice {
    offer: u8,
    span: usize,
    limit: u32,
    hourly: bool,
}

/// Scenes in layouts that the store offers.
pub(super) fn scenes(store: Arc<dyn Store>) -> impl Strategy<Value = Scene> {
    let writes = vec(vec(reading(), 1..10), 0..9);
    let salt = any::<u64>().no_shrink();
    (writes, vec(table(), 1..3), layout(), salt)
        .prop_map(move |(writes, tables, layout, salt)| scene(&*store, &writes, &tables, &layout, salt))
}

fn table() -> impl Strategy<Value = TableChoice> {
    let fields = |count: std::ops::Range<usize>| vec((0..NAMES.len(), 0..5_u8, any::<bool>()), count);
    let tags = vec((0..NAMES.len(), any::<bool>()), 0..4);
    let series = vec(prop::array::uniform3(0..64_u16), 1..7);
    let fields = prop_oneof![15 => fields(1..7), 1 => fields(20..65)];
    let resolution = prop_oneof![4 => Just(0_u8), 1 => 1..4_u8];
    (0..NAMES.len(), tags, fields, series, resolution).prop_map(|(name, tags, fields, series, resolution)| {
        TableChoice { name, resolution, tags, fields, series }
    })
}

fn reading() -> impl Strategy<Value = ReadingChoice> {
    // most readings are of one day, or they would never meet
    let anchor = prop_oneof![3 => Just(0), 1 => 0..ANCHORS.len()];
    let unit = prop_oneof![2 => Just(0), 1 => 0..STEPS.len()];
    let values = vec(0..4_096_u16, 1..9);
    (0..4_u8, 0..8_u8, anchor, unit, 0..48_u8, values).prop_map(
        |(table, series, anchor, unit, step, values)| ReadingChoice {
            table,
            series,
            anchor,
            unit,
            step,
            values,
        },
    )
}

fn layout() -> impl Strategy<Value = LayoutChoice> {
    (any::<u8>(), 0..4_usize, 1..12_u32, any::<bool>())
        .prop_map(|(offer, span, limit, hourly)| LayoutChoice { offer, span, limit, hourly })
}

fn scene(
    store: &dyn Store,
    writes: &[Vec<ReadingChoice>],
    tables: &[TableChoice],
    choice: &LayoutChoice,
    salt: u64,
) -> Scene {
    let mut names = HashSet::new();
    let tables = tables.iter().map(|one| described(one, &mut names)).collect();
    let schema = Schema { tables };
    let (family, variant, layout) = chosen(store, &schema, choice);
    let reading = |choice: &ReadingChoice| read(&schema, &layout, choice, salt);
    let writes = writes.iter().map(|write| write.iter().map(reading).collect()).collect();
    Scene { schema, family, variant, writes }
}

/// The layout: one of all that the store offers.
fn chosen(store: &dyn Store, schema: &Schema, choice: &LayoutChoice) -> (Family, String, Layout) {
    let per_ns = if choice.hourly { HOUR } else { DAY };
    let families = [
        Family::PerReading,
        Family::PerSpan { span_ns: [SECOND, MINUTE, HOUR, 100_000_000][choice.span] },
        Family::Bucketed { limit: choice.limit, per_ns, split: SPLIT },
        Family::Summary { per_ns, split: SPLIT },
        Family::GrowingArray,
    ];
    let mut all = Vec::new();
    for family in families {
        let offers = store.layouts(schema, family).into_iter();
        let offers = offers.filter(|offer| offer.layout.write != WriteMethod::Datagram);
        all.extend(offers.map(|offer| (family, offer.variant, offer.layout)));
    }
    let number = usize::from(choice.offer) % all.len().max(1);
    all.swap_remove(number)
}

/// A name that is not taken yet.
fn unused(number: usize, taken: &mut HashSet<String>) -> String {
    let name = NAMES[number];
    let more = (2..).map(|count| format!("{}_{count}", &name[..name.len().min(37)]));
    let name = std::iter::once(name.to_owned()).chain(more).find(|name| taken.insert(name.clone()));
    name.expect("numbers do not end")
}

fn described(choice: &TableChoice, names: &mut HashSet<String>) -> Table {
    let mut columns = HashSet::new();
    let tags: Vec<Tag> = choice.tags.iter().map(|tag| Tag { name: unused(tag.0, &mut columns) }).collect();
    let fields = choice.fields.iter().map(|&(name, kind, nullable)| Field {
        name: unused(name, &mut columns),
        kind: KINDS[usize::from(kind)],
        nullable,
    });
    Table {
        name: unused(choice.name, names),
        fields: fields.collect(),
        entity: None,
        time_resolution: RESOLUTIONS[usize::from(choice.resolution)],
        series: series(choice),
        tags,
    }
}

const KINDS: [FieldType; 5] =
    [FieldType::F64, FieldType::I64, FieldType::U16, FieldType::Bool, FieldType::Text];

const RESOLUTIONS: [TimeResolution; 4] = [
    TimeResolution::Nanoseconds,
    TimeResolution::Microseconds,
    TimeResolution::Milliseconds,
    TimeResolution::Seconds,
];

/// The series: no two have the same tags.
fn series(choice: &TableChoice) -> Series {
    if choice.tags.is_empty() {
        return Series::single();
    }
    let mut seen = HashSet::new();
    let word = |number: u16| TEXTS[usize::from(number) % TEXTS.len()];
    let whole = |number: u16| WHOLES[usize::from(number) % WHOLES.len()];
    let text = |tag: usize, one: &[u16; 3]| {
        if choice.tags[tag].1 { whole(one[tag]).to_string() } else { word(one[tag]).to_owned() }
    };
    let all = |one: &&[u16; 3]| (0..choice.tags.len()).map(|tag| text(tag, one)).collect::<Vec<_>>();
    let distinct: Vec<_> = choice.series.iter().filter(|one| seen.insert(all(one))).collect();
    let column = |(tag, &(_, is_integer)): (usize, &(usize, bool))| {
        let numbers = distinct.iter().map(|one| one[tag]);
        if is_integer {
            TagColumn::Integer(numbers.map(whole).collect())
        } else {
            TagColumn::Text(numbers.map(|number| word(number).to_owned()).collect())
        }
    };
    Series::new(choice.tags.iter().enumerate().map(column).collect())
}

fn read(schema: &Schema, layout: &Layout, choice: &ReadingChoice, salt: u64) -> Reading {
    let number = usize::from(choice.table) % schema.tables.len();
    let table = &schema.tables[number];
    let time = ANCHORS[choice.anchor].saturating_add(i64::from(choice.step) * STEPS[choice.unit]);
    let time = time.min(LAST);
    let is_summed = matches!(layout.shape, Shape::Bucketed { .. } | Shape::Summary { .. });
    let picked = |field: usize| choice.values[field % choice.values.len()];
    let fields = table.fields.iter().enumerate();
    let mut values: Vec<Value> = fields
        .map(|(field, one)| {
            let number = picked(field).wrapping_add(u16::try_from(field / choice.values.len()).unwrap_or(0));
            if one.nullable && number % 4 == 3 {
                Value::Null
            } else {
                value(one.kind, number / 4, is_summed, salt)
            }
        })
        .collect();
    if values.iter().all(|one| *one == Value::Null) {
        values[0] = value(table.fields[0].kind, picked(0) / 4, is_summed, salt);
    }
    Reading {
        table: number,
        series: u32::from(choice.series) % table.series.len(),
        time_ns: time - time.rem_euclid(table.time_resolution.nanoseconds()),
        values,
    }
}

/// Value number `number` of a type. The first are those that need care, the rest random. Where the layout keeps sums, they stay within 64 bits.
fn value(kind: FieldType, number: u16, is_summed: bool, salt: u64) -> Value {
    let random = mix(u64::from(number) ^ salt);
    let place = usize::from(number);
    let bits = random.cast_signed();
    // a third of all cases has what is derived from it known to all digits
    if salt.is_multiple_of(3) && kind.is_number() {
        let small = bits % 1_000;
        return match kind {
            FieldType::F64 => Value::F64(small as f64 / 16.0),
            FieldType::U16 => Value::I64(small.abs()),
            _ => Value::I64(small),
        };
    }
    match kind {
        FieldType::Bool => Value::Bool(number % 2 == 1),
        FieldType::U16 => {
            Value::I64([0, 1, 65_535, 32_768, 7].get(place).copied().unwrap_or(bits.rem_euclid(65_536)))
        }
        FieldType::I64 => {
            let value = match place {
                0..512 => WHOLES[place % WHOLES.len()],
                512..800 => bits % 100,
                _ => bits,
            };
            Value::I64(if is_summed { value % (1 << 40) } else { value })
        }
        FieldType::F64 => {
            let value = match place {
                0..256 => REALS[place % REALS.len()],
                256..900 => (bits % 100_000) as f64 / 100.0,
                _ => f64::from_bits(random),
            };
            let is_fine = value.is_finite() && (!is_summed || value.abs() < 1e100);
            Value::F64(if is_fine { value } else { 0.25 })
        }
        FieldType::Text => {
            let text = |number: u64| TEXTS[usize::try_from(number % 24).unwrap_or(0)];
            Value::Text(match place {
                0..800 => TEXTS[place % TEXTS.len()].to_owned(),
                _ => [text(random), text(random >> 8), text(random >> 16)].concat(),
            })
        }
    }
}
