//! Columns whose cells do not say by themselves what they are: units behind numbers, texts among numbers, names of sensors. Reading stops and asks.

use super::*;

/// Stops where the user has to say what a column is, of which they said nothing.
pub fn check(seen: &ColumnEvidence, is_without_tags: bool) -> Result<()> {
    units(seen)?;
    texts_among_numbers(seen)?;
    let ColumnEvidence { label, example, .. } = seen;
    if is_without_tags && seen.is_mostly(seen.texts) && seen.distinct.len() > 1 && is_of_sensors(label) {
        return ask_or_text(
            seen,
            format!("looks like the name of a sensor ({example} …). Say ⟦--tags‖{label}⟧ if it is"),
        );
    }
    Ok(())
}

/// Stops, and names the option that keeps texts as well: a choice where these words have none.
fn ask_or_text<T>(ColumnEvidence { label, .. }: &ColumnEvidence, words: String) -> Result<T> {
    let mark = if words.contains('⟦') { "!" } else { "" };
    ask(format!("column {label} {words}, or say ⟦{mark}--type‖{label}=text⟧ to keep texts"))
}

fn is_of_sensors(label: &str) -> bool {
    name_of(label).split('_').any(|word| {
        "sensor entity device station mote node meter metric channel signal"
            .split(' ')
            .contains(&word.trim_end_matches("id"))
    })
}

/// Whether the name of a column is as that of a sensor's number.
pub fn numbers_sensors(label: &str) -> bool {
    is_of_sensors(label) && ["id", "_no", "_nr", "number"].iter().any(|end| name_of(label).ends_with(end))
}

/// Numbers with units, or with other signs around them, are asked about.
fn units(seen: &ColumnEvidence) -> Result<()> {
    let is_most = |count: u64| seen.is_mostly(count) && seen.is_mostly(seen.texts);
    let example = &seen.example;
    let with_units = is_most(seen.units.values().sum());
    match seen.units.len() {
        1 if with_units => ask_or_text(
            seen,
            format!("has a unit in its cells ({example:?}). Say ⟦--unit-in-cells⟧ to read the numbers"),
        ),
        2 | 3 if with_units => unit(seen).map(drop),
        _ if is_most(seen.near_numbers) && !with_units => ask_or_text(
            seen,
            format!("has numbers with other signs ({example:?}). Write them as plain numbers"),
        ),
        _ => Ok(()),
    }
}

/// What is said of the unit of a column of numbers, of which there may be one.
pub fn unit(seen: &ColumnEvidence) -> Result<Option<String>> {
    match seen.units.iter().collect_vec()[..] {
        [] => Ok(None),
        [(unit, count)] => Ok(Some(format!(
            "numbers in column {} have the unit {unit}; {} cells have none",
            seen.label,
            seen.numeric.saturating_sub(*count)
        ))),
        _ => ask_or_text(
            seen,
            format!("has several units: {}. Write the cells in one", seen.units.keys().join(", ")),
        ),
    }
}

/// Texts in a column of numbers: all stand for "no value", or the column holds both.
fn texts_among_numbers(seen: &ColumnEvidence) -> Result<()> {
    let present = seen.present();
    let others = seen.truths + seen.times + seen.clocks + seen.texts - seen.leading_zeros;
    if seen.numeric * 5 < present || others == 0 {
        return Ok(());
    }
    // What people and programs write for "no value", beside texts without a letter or digit.
    let absent = "unavailable|unknown|none|missing|undefined|no data|nodata|n.a.|nil|nd|\\n|#n/a|#value!|#div/0!|#num!|#ref!";
    let cells = seen.distinct.iter().filter(|text| text.contains(|one: char| !one.is_ascii_digit()));
    let (absent, texts): (Vec<_>, Vec<_>) = cells.partition(|text| {
        !text.contains(char::is_alphanumeric)
            || absent.split('|').any(|absent| absent.eq_ignore_ascii_case(text))
    });
    let list = |texts: &[&String]| texts.iter().join(",");
    let is_all_known = seen.distinct.len() < DISTINCT && seen.truths == 0;
    let words = format!("has {} numbers and {others} other cells", seen.numeric);
    if texts.is_empty() && is_all_known {
        let shown = list(&absent);
        return ask_or_text(
            seen,
            format!("{words}, with {shown}. Say ⟦--absent‖{shown}⟧ if that is no value"),
        );
    }
    if others * 20 <= present {
        return Ok(());
    }
    let (shown, label) = (list(&texts[..texts.len().min(3)]), &seen.label);
    let no_value = if absent.is_empty() { "" } else { &format!("‖--absent‖{}", list(&absent)) };
    ask_or_text(
        seen,
        format!(
            "{words} (such as {shown}). Say ⟦--type‖{label}=mixed{no_value}⟧ to keep the texts in another field, --absent with the texts that are no value"
        ),
    )
}
