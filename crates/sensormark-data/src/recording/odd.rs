//! What cells do not say by themselves: units behind numbers, texts among numbers, names of sensors, dates that many readings share. Reading stops and asks.

use super::*;

// The end of a name that is that of a number.
pattern!(NUMBERED, "(id|_no|_nr|number)$");

/// Stops where the user has to say what a column is, of which they said nothing.
pub fn check(seen: &ColumnEvidence, is_without_tags: bool) -> Result<()> {
    let ColumnEvidence { label, example, .. } = seen;
    let is_name =
        is_without_tags && seen.is_mostly(seen.texts) && seen.distinct.len() > 1 && is_of_sensors(label);
    let name = || format!("looks like the name of a sensor ({example} …). Say ⟦--tags‖{label}⟧ if it is");
    units(seen)
        .or_else(|| texts_among_numbers(seen))
        .or_else(|| is_name.then(name))
        .map_or(Ok(()), |words| ask_or_text(seen, words))
}

/// Stops, and names the option that keeps texts as well: a choice where these words have none.
fn ask_or_text<T>(ColumnEvidence { label, .. }: &ColumnEvidence, words: String) -> Result<T> {
    let mark = if words.contains('⟦') { "!" } else { "" };
    unclear!("column {label} {words}, or say ⟦{mark}--type‖{label}=text⟧ to keep texts")
}

fn is_of_sensors(label: &str) -> bool {
    name_of(label).split('_').any(|word| {
        "sensor entity device station mote node meter metric channel signal"
            .split(' ')
            .contains(&word.trim_end_matches("id"))
    })
}

/// Numbers with units, or with other signs around them.
fn units(seen: &ColumnEvidence) -> Option<String> {
    let is_most = |count: u64| seen.is_mostly(count) && seen.is_mostly(seen.texts);
    let example = &seen.example;
    match seen.units.len() {
        1..=3 if is_most(seen.units.values().sum()) => several_units(seen).or_else(|| {
            Some(format!("has a unit in its cells ({example:?}). Say ⟦--unit-in-cells⟧ to read the numbers"))
        }),
        _ => is_most(seen.near_numbers)
            .then(|| format!("has numbers with other signs ({example:?}). Write them as plain numbers")),
    }
}

fn several_units(ColumnEvidence { units, .. }: &ColumnEvidence) -> Option<String> {
    let are_several = units.len() > 1;
    are_several.then(|| format!("has several units: {}. Write the cells in one", units.keys().join(", ")))
}

/// What is said of the unit of a column of numbers, of which there may be one.
pub fn unit(seen: &ColumnEvidence) -> Result<Option<String>> {
    if let Some(words) = several_units(seen) {
        return ask_or_text(seen, words);
    }
    Ok(seen.units.first_key_value().map(|(unit, count)| {
        let without = seen.numeric.saturating_sub(*count);
        format!("numbers in column {} have the unit {unit}; {without} cells have none", seen.label)
    }))
}

/// Texts in a column of numbers: all stand for "no value", or the column holds both.
fn texts_among_numbers(seen: &ColumnEvidence) -> Option<String> {
    let present = seen.present();
    let others = seen.truths + seen.times + seen.clocks + seen.texts - seen.leading_zeros;
    if seen.numeric * 5 < present || others == 0 {
        return None;
    }
    // What people and programs write for "no value", beside texts without a letter or digit.
    let absent = "unavailable|unknown|none|missing|undefined|no data|nodata|n.a.|nil|nd|\\n|#n/a|#value!|#div/0!|#num!|#ref!";
    let cells = seen.distinct.iter().filter(|text| text.contains(|one: char| !one.is_ascii_digit()));
    let (absent, texts): (Vec<_>, Vec<_>) = cells.partition(|text| {
        !text.contains(char::is_alphanumeric)
            || absent.split('|').any(|absent| absent.eq_ignore_ascii_case(text))
    });
    let absent = absent.into_iter().join(",");
    let is_all_known = texts.is_empty() && seen.distinct.len() < DISTINCT && seen.truths == 0;
    let words = format!("has {} numbers and {others} other cells", seen.numeric);
    if is_all_known {
        return Some(format!("{words}, with {absent}. Say ⟦--absent‖{absent}⟧ if that is no value"));
    }
    let (shown, label) = (texts.into_iter().take(3).join(","), &seen.label);
    let no_value = if absent.is_empty() { "" } else { &format!("‖--absent‖{absent}") };
    (others * 20 > present).then(|| format!(
        "{words} (such as {shown}). Say ⟦--type‖{label}=mixed{no_value}⟧ to keep the texts in another field, --absent with the texts that are no value"
    ))
}

impl Taker<'_> {
    /// Dates without a time of day are the time only where they tell readings apart, or where the user says so.
    pub fn check_dates(&self, timing: &Timing) -> Result<()> {
        let Plan { time, tags, .. } = &self.plan;
        let (readings, repeated) = (self.batch.len() as u64, timing.repeated);
        if !time.is_bare_date || repeated <= readings / if tags.is_empty() { 10 } else { 2 } {
            return Ok(());
        }
        let column = &time.label;
        let others = self.evidence.columns.iter().filter(|other| !time.columns.contains(&other.number));
        let clocks = others.filter(|other| is_named_clock(&other.label));
        let clocks = clocks.map(|clock| format!(" (⟦--time‖{column},{}⟧)", clock.label)).join("");
        unclear!(
            "column {column} has dates without a time of day, and {repeated} of {readings} readings share one. Say ⟦!--time‖{column},COLUMN⟧ if COLUMN has the time of day{clocks}, --time COLUMN if it has all of it, --tags COLUMN if it names the sensor, or ⟦!--time‖{column}⟧ if the date is enough"
        )
    }

    /// Readings that repeat a time or are late, and are in order within each value of a column: that column may say which sensor they are of.
    pub fn check_series(&self, timing: &Timing) -> Result<()> {
        let Plan { tags, fields, named, .. } = &self.plan;
        let (half, disorder) = (self.batch.len() as u64 / 2, timing.repeated + timing.out_of_order);
        let candidates = fields.iter().zip(&self.batch.columns).filter_map(|(field, column)| {
            let label = &self.evidence.columns[field.column].label;
            let most = match disorder {
                _ if is_of_sensors(label) && NUMBERED.is_match(&name_of(label)) => half,
                0 | 1 => 0,
                _ => half.min(disorder + 1),
            };
            let is_name = matches!(field.kind, I64 | Text) && !named.types.contains_key(&field.column);
            let values = ordered_values(column, &self.batch.times_ns, if is_name { most } else { 0 })?;
            (values > 1).then_some((values, label))
        });
        let found = if tags.is_empty() { candidates.min() } else { None };
        found.map_or(Ok(()), |(values, label)| {
            unclear!(
                "{disorder} readings repeat a time or come late, and none does within the {values} values of column {label}. Say ⟦--tags‖{label}⟧ if it names the sensor, or ⟦!--type‖{label}=text⟧ if not"
            )
        })
    }
}

/// How many values a column has, if there are no more than this, and the times of each ascend.
fn ordered_values(column: &Column, times_ns: &[i64], most: u64) -> Option<usize> {
    let mut latest = HashMap::new();
    for (row, &time_ns) in times_ns.iter().enumerate() {
        let before = latest.insert(column.value(row).to_string(), time_ns);
        if before.is_some_and(|before| before >= time_ns) || latest.len() as u64 > most {
            return None;
        }
    }
    Some(latest.len())
}
