//! Columns whose cells do not say by themselves what they are: units behind numbers, texts among numbers, names of sensors. Reading stops and asks.

use itertools::Itertools;

use super::{
    error::{Result, ask, unclear},
    evidence::{ColumnEvidence, DISTINCT},
    names::name_of,
};

/// Texts that people and programs write for "no value", beside those without a letter or digit.
const ABSENT: &str = "unavailable|unknown|none|missing|undefined|no data|nodata|n.a.|#n/a|nil|nd|\\n";
/// Words of names of columns that name sensors.
const SENSORS: &str = "sensor entity device station mote node meter metric channel signal";

/// Stops where the user has to say what a column is, of which they said nothing.
pub fn check(seen: &ColumnEvidence, label: &str, is_without_tags: bool) -> Result<()> {
    units(seen, label)?;
    texts_among_numbers(seen, label)?;
    if is_without_tags && names_sensors(seen, label) {
        let shown: Vec<&str> = seen.distinct.iter().take(3).map(String::as_str).collect();
        return ask(
            format!(
                "column {label} looks like the name of a sensor ({} …). Say --tags {label} if it is, or --type {label}=text if not",
                shown.join(", ")
            ),
            [["--tags".to_owned(), label.to_owned()]],
        );
    }
    Ok(())
}

/// Whether a column of texts has different ones, and a name as that of a sensor.
fn names_sensors(seen: &ColumnEvidence, label: &str) -> bool {
    let name = name_of(label);
    seen.is_mostly(seen.texts)
        && seen.distinct.len() > 1
        && name.split('_').any(|word| SENSORS.split(' ').contains(&word))
}

/// Numbers with one unit are asked about.
fn units(seen: &ColumnEvidence, label: &str) -> Result<()> {
    let most = seen.units.values().max().copied().unwrap_or(0);
    let example = &seen.example;
    if seen.units.len() == 1 && seen.is_mostly(most) && seen.is_mostly(seen.texts) {
        return ask(
            format!(
                "cells of column {label} have a unit ({example:?}). Say --unit-in-cells to read the numbers, or --type {label}=text"
            ),
            [["--unit-in-cells"]],
        );
    }
    Ok(())
}

/// What is said of the unit of a column of numbers, of which there may be one.
pub fn unit(seen: &ColumnEvidence, label: &str) -> Result<Option<String>> {
    let units: Vec<&str> = seen.units.keys().map(String::as_str).collect();
    match units[..] {
        [] => Ok(None),
        [unit] => {
            let without = seen.numeric.saturating_sub(seen.units[unit]);
            Ok(Some(format!("numbers in column {label} have the unit {unit}; {without} cells have none")))
        }
        _ => unclear(format!(
            "cells of column {label} have several units: {}. Write them in one, or say --type {label}=text",
            units.join(", ")
        )),
    }
}

/// Texts in a column of numbers: all stand for "no value", or the column holds both.
fn texts_among_numbers(seen: &ColumnEvidence, label: &str) -> Result<()> {
    let present = seen.present();
    let others = seen.truths + seen.times + seen.clocks + seen.texts - seen.leading_zeros;
    if seen.numeric * 5 < present || others == 0 {
        return Ok(());
    }
    let is_absent = |text: &&String| {
        let is_word = text.contains(char::is_alphanumeric);
        !is_word || ABSENT.split('|').any(|absent| absent.eq_ignore_ascii_case(text))
    };
    let is_text = |text: &&String| !text.bytes().all(|byte| byte.is_ascii_digit());
    let (absent, texts): (Vec<&String>, Vec<&String>) =
        seen.distinct.iter().filter(is_text).partition(is_absent);
    let list = |texts: &[&String]| texts.iter().join(",");
    let is_all_known = seen.distinct.len() < DISTINCT && seen.truths == 0;
    let words = format!("column {label} has {} numbers and {others} other cells", seen.numeric);
    let no_value = if absent.is_empty() { Vec::new() } else { vec!["--absent".to_owned(), list(&absent)] };
    if texts.is_empty() && is_all_known {
        let shown = list(&absent);
        return ask(
            format!(
                "{words}, with {shown}. Say --absent '{shown}' if that is no value, or --type {label}=text"
            ),
            [no_value],
        );
    }
    if others * 20 <= present {
        return Ok(());
    }
    let shown = list(&texts[..texts.len().min(3)]);
    let mixed = vec!["--type".to_owned(), format!("{label}=mixed")];
    ask(
        format!(
            "{words} (such as {shown}). Say --type {label}=mixed to keep the texts in another field, --type {label}=text to keep all as text, or --absent with the texts that are no value"
        ),
        [[mixed, no_value].concat()],
    )
}
