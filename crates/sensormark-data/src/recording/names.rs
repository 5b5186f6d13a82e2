//! Names of the contract (lower case ASCII, at most 40 bytes, none that a database keeps) from names as people write them.

use super::*;
use sensormark_store::name::{LONGEST_NAME, column_name, table_name};

// A word of a name: it ends where a capital letter follows another letter or a digit.
pattern!(WORD, "[A-Z]+[a-z0-9]*|[a-z0-9]+");

/// A name of the contract for what a file calls `text`: "Humidity Ratio" and "HumidityRatio" become `humidity_ratio`. Where nothing is left
/// or a digit is first, it starts with `column_`.
pub fn name_of(text: &str) -> String {
    let mut name = WORD.find_iter(text).map(|word| word.as_str()).join("_").to_ascii_lowercase();
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert_str(0, "column_");
    }
    name.truncate(LONGEST_NAME);
    name.trim_end_matches('_').to_owned()
}

/// The name of the table of a file with this name, and what is to be said of it.
pub fn table_name_of(file: &str) -> (String, Option<String>) {
    let plain = Path::new(file.trim_end_matches(".gz").trim_end_matches(".zst"));
    table_name(&name_of(&plain.file_stem().unwrap_or_default().to_string_lossy()))
}

/// The name of a column that the file calls `text`, and what is to be said of it. A number at its end tells it apart from the names that are taken, and it is taken
/// from then on.
pub fn free_name_of(text: &str, taken: &mut BTreeSet<String>) -> (String, Option<String>) {
    let (plain, note) = column_name(&name_of(text));
    let mut name = plain.clone();
    for number in 2.. {
        if taken.insert(name.clone()) {
            break;
        }
        let ending = format!("_{number}");
        name = format!("{}{ending}", &plain[..plain.len().min(LONGEST_NAME - ending.len())]);
    }
    (name, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_contracts() {
        for (text, name) in [
            ("Temperature", "temperature"),
            ("HumidityRatio", "humidity_ratio"),
            ("CO2", "co2"),
            ("CO2 (ppm)", "co2_ppm"),
            ("Temp. [°C]", "temp_c"),
            ("%", "column"),
            ("2nd floor", "column_2nd_floor"),
            ("__x__", "x"),
        ] {
            assert_eq!(name_of(text), name, "{text}");
        }
        assert_eq!(name_of(&"abcdefghij ".repeat(9)).len(), 40);
        let mut taken = BTreeSet::new();
        let kept = ["named_xmin", "XMin", "xmin"].map(|text| free_name_of(text, &mut taken).0);
        assert_eq!(kept, ["named_xmin", "named_xmin_2", "named_xmin_3"]);
        let mut taken = BTreeSet::new();
        let names = ["a", "A", "a"].map(|text| free_name_of(text, &mut taken).0);
        assert_eq!(names, ["a", "a_2", "a_3"]);
    }
}
