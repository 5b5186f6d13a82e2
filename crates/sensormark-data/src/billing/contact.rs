//! Whose a meter is and where it stands: the columns of its entity. Invented, of common names; e-mail addresses and telephone numbers are of ranges
//! that are kept free for examples.

use super::streams::CONTACT;
use crate::random::Stream;
use sensormark_store::{FieldType, Value};
use std::fmt::Write;
use std::num::NonZeroU64;

/// Names and types of the entity's columns.
pub(super) const COLUMNS: [(&str, FieldType); 9] = [
    ("contact_name", FieldType::Text),
    ("email", FieldType::Text),
    ("number", FieldType::Text),
    ("description", FieldType::Text),
    ("address", FieldType::Text),
    ("city", FieldType::Text),
    ("state_province", FieldType::Text),
    ("latitude", FieldType::F64),
    ("longitude", FieldType::F64),
];
/// Columns of text.
const TEXTS: usize = 7;
/// The column that tells which meter a row is of.
const DESCRIPTION: usize = 3;
/// What stands before the meter's number in it.
const METER: &str = "electricity meter ";

const FIRST_NAMES: [&str; 16] = [
    "Ada", "Bruno", "Carla", "David", "Elena", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Keiko", "Liam",
    "Mina", "Noor", "Olga", "Pedro",
];
const LAST_NAMES: [&str; 16] = [
    "Adams", "Baker", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Hansen", "Ito", "Jansen", "Kowalski",
    "Lopez", "Meyer", "Novak", "Okafor", "Petrov",
];
const STREETS: [&str; 8] = [
    "Oak Street",
    "Station Road",
    "Mill Lane",
    "Harbour View",
    "Park Avenue",
    "Church Street",
    "Hill Road",
    "Market Square",
];
/// City, state, latitude and longitude in 1e-5 degrees.
const CITIES: [(&str, &str, i64, i64); 8] = [
    ("Seattle", "Washington", 4_760_621, -12_233_207),
    ("Portland", "Oregon", 4_551_523, -12_267_648),
    ("San Jose", "California", 3_733_821, -12_188_633),
    ("Fresno", "California", 3_674_773, -11_977_237),
    ("Reno", "Nevada", 3_952_963, -11_981_380),
    ("Boise", "Idaho", 4_361_502, -11_620_231),
    ("Tacoma", "Washington", 4_725_288, -12_244_429),
    ("Eugene", "Oregon", 4_405_207, -12_308_675),
];
/// Meters stand up to so far from their city's middle, in 1e-5 degrees.
const AROUND: i64 = 5_000;

fn one_of<'a, T>(all: &'a [T], stream: &Stream, index: u64) -> &'a T {
    let count = NonZeroU64::new(all.len() as u64).unwrap_or(NonZeroU64::MIN);
    &all[usize::try_from(stream.below(index, count)).unwrap_or(0)]
}

/// Makes these values the columns of a meter's entity, in memory that is used again. Where they are that meter's already, nothing is done: they
/// must come from this function, under the same seed.
pub fn fill_contact(seed: u64, series: u32, values: &mut Vec<Value>) {
    let id = u64::from(series) + 1;
    if is_of(id, values) {
        return;
    }
    let stream = Stream::new(seed, u64::from(series), CONTACT);
    let first = one_of(&FIRST_NAMES, &stream, 0);
    let last = one_of(&LAST_NAMES, &stream, 1);
    let street = one_of(&STREETS, &stream, 2);
    let (city, state, latitude, longitude) = *one_of(&CITIES, &stream, 3);
    let house = stream.within(4, 1..=400);
    let line = stream.within(5, 100..=199);
    if values.len() != COLUMNS.len() {
        values.clear();
        values.resize(TEXTS, Value::Text(String::new()));
        values.resize(COLUMNS.len(), Value::F64(0.0));
    }
    write(values, 0, format_args!("{first} {last}"));
    write(values, 1, format_args!("{first}.{last}.{id}@example.org"));
    write(values, 2, format_args!("+1-{:03}-555-0{line}", id % 1_000));
    write(values, DESCRIPTION, format_args!("{METER}{id}"));
    write(values, 4, format_args!("{house} {street}"));
    write(values, 5, format_args!("{city}"));
    write(values, 6, format_args!("{state}"));
    let degrees =
        |middle: i64, index| Value::F64((middle + stream.within(index, -AROUND..=AROUND)) as f64 / 100_000.0);
    values[TEXTS] = degrees(latitude, 6);
    values[TEXTS + 1] = degrees(longitude, 7);
}

/// Whether these are the columns of the meter with this number.
fn is_of(id: u64, values: &[Value]) -> bool {
    let Some(Value::Text(description)) = values.get(DESCRIPTION) else {
        return false;
    };
    let number = description.strip_prefix(METER);
    number.and_then(|number| number.parse().ok()) == Some(id)
}

fn write(values: &mut [Value], column: usize, text: std::fmt::Arguments<'_>) {
    if let Value::Text(value) = &mut values[column] {
        value.clear();
        // Writing to memory does not fail.
        let _ = value.write_fmt(text);
    }
}
