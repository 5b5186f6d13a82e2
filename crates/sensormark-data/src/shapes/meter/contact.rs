//! Whose a meter is and where it stands: the columns of its entity. Invented, of common names; e-mail addresses and telephone numbers are of ranges
//! that are kept free for examples.

use super::*;
use std::fmt::Write;

/// Names of the entity's columns: first those of text, then those of numbers.
pub const COLUMNS: &str =
    "contact_name email number description address city state_province latitude longitude";
/// How many are of text.
pub const TEXTS: usize = 7;
/// What stands before the meter's number in it.
const METER: &str = "electricity meter ";

/// City, state, latitude and longitude in 1e-5 degrees.
static CITIES: LazyLock<Vec<(String, String, i64, i64)>> = LazyLock::new(|| {
    rows(
        "
city state latitude longitude
Seattle Washington 4760621 -12233207
Portland Oregon 4551523 -12267648
'San Jose' California 3733821 -12188633
Fresno California 3674773 -11977237
Reno Nevada 3952963 -11981380
Boise Idaho 4361502 -11620231
Tacoma Washington 4725288 -12244429
Eugene Oregon 4405207 -12308675
",
    )
});
/// Meters stand up to so far from their city's middle, in 1e-5 degrees.
const AROUND: i64 = 5_000;

/// Makes these values the columns of a meter's entity, in memory that is used again. Where they are that meter's already, nothing is done: they
/// must come from this function, under the same seed.
pub fn fill_contact(seed: u64, series: u32, values: &mut Vec<Value>) {
    let id = series as u64 + 1;
    // The description tells which meter a row is of.
    if let Some(Value::Text(description)) = values.get(3)
        && description.strip_prefix(METER).and_then(|number| number.parse().ok()) == Some(id)
    {
        return;
    }
    let stream = Stream::new(seed, series as u64, 5);
    let word = |words: &'static str, index| *stream.one_of(index, &words.split('/').collect_vec());
    let first =
        word("Ada/Bruno/Carla/David/Elena/Farid/Grace/Hiro/Ines/Jonas/Keiko/Liam/Mina/Noor/Olga/Pedro", 0);
    let last = word(
        "Adams/Baker/Costa/Dubois/Evans/Fischer/Garcia/Hansen/Ito/Jansen/Kowalski/Lopez/Meyer/Novak/Okafor/Petrov",
        1,
    );
    let street = word(
        "Oak Street/Station Road/Mill Lane/Harbour View/Park Avenue/Church Street/Hill Road/Market Square",
        2,
    );
    let (city, state, latitude, longitude) = stream.one_of(3, &CITIES);
    let house = stream.within(4, 1..=400);
    let line = stream.within(5, 100..=199);
    values.resize(COLUMNS.split(' ').count(), Value::Null);
    let texts = [
        format_args!("{first} {last}"),
        format_args!("{first}.{last}.{id}@example.org"),
        format_args!("+1-{:03}-555-0{line}", id % 1_000),
        format_args!("{METER}{id}"),
        format_args!("{house} {street}"),
        format_args!("{city}"),
        format_args!("{state}"),
    ];
    for (value, text) in values.iter_mut().zip(texts) {
        if !matches!(value, Value::Text(_)) {
            *value = Value::Text(String::new());
        }
        if let Value::Text(used) = value {
            used.clear();
            // Writing to memory does not fail.
            let _ = used.write_fmt(text);
        }
    }
    for ((value, middle), index) in values[TEXTS..].iter_mut().zip([latitude, longitude]).zip(6..) {
        *value = Value::F64((middle + stream.within(index, -AROUND..=AROUND)) as f64 / 100_000.0);
    }
}
