//! What is wrong with a study's file beyond its form: names of figures, databases, ranges and tables that there are not.

use super::{
    expression::{operands, parts},
    file::{Range, StudyFile, names},
    metric,
    rows::named,
    scope::{IMPLEMENTATION, filled, value},
};
use sensormark_data::nearest::unknown;

/// What a claim may say of two figures; nothing is `more` or `cheaper`, as the figure is.
const RELATIONS: [&str; 9] =
    ["more", "less", "cheaper", "to", "level", "within", "none", "physical", "virtual"];
/// How a range is found in a run.
const RANGES: [&str; 8] = ["parameter", "label", "ends", "steps", "later", "titles", "joined", "pairs"];

/// The first wrong name as it stands in the file, and the message.
pub fn wrong(file: &StudyFile) -> Option<(String, String)> {
    let names_itself = |(name, text): &(&String, &String)| {
        operands(parts(text).2).iter().any(|(_, words)| words.first() == Some(&name.as_str()))
    };
    if let Some((name, text)) = file.figures.iter().find(names_itself) {
        return Some((text.clone(), format!("the figure {name:?} names itself; give it another name")));
    }
    wrong_figure(file).or_else(|| wrong_range(file)).or_else(|| wrong_table(file))
}

/// The first of these names that is not known. Names with braces are known of a run alone.
fn first_unknown<'t>(
    kind: &str,
    mut names: impl Iterator<Item = &'t str>,
    known: &[&str],
) -> Option<(String, String)> {
    let wrong = names.find(|name| !(name.is_empty() || name.contains('{') || known.contains(name)))?;
    Some((wrong.to_owned(), unknown(kind, wrong, known.iter().map(|&known| known.to_owned()))))
}

/// A figure or database that there is not.
fn wrong_figure(file: &StudyFile) -> Option<(String, String)> {
    let claims = || file.claims.iter().chain(&file.environments);
    let columns = file.tables.iter().flat_map(|table| table.columns.lines());
    let columns = columns.chain(file.printed.values().flat_map(|printed| printed.columns.lines()));
    let figures =
        claims().map(|claim| &claim.figure).chain(file.drawings.iter().map(|drawing| &drawing.figure));
    let figures = figures.chain(file.figures.values()).map(String::as_str);
    let sides =
        claims().flat_map(|claim| names(&claim.right).chain([&*claim.left]).map(move |side| (side, claim)));
    let (databases, sides): (Vec<_>, Vec<_>) = sides.partition(|(_, claim)| claim.words.is_empty());
    let printed = file.printed.values().flat_map(|printed| &printed.rows);
    let databases = databases.into_iter().map(|(side, _)| side).filter(|side| !side.contains('{'));
    let databases = databases.chain(printed.filter_map(|row| row.first()?.as_str()));
    let definitions =
        columns.map(|column| named(column).1).chain(figures).chain(sides.into_iter().map(|(side, _)| side));
    let is_plain = |text: &&str| !(text.is_empty() || text.starts_with('{') || text.starts_with("best "));
    definitions.chain(databases).filter(is_plain).find_map(|text| {
        let wrong = wrong_word(file, text).filter(|_| !file.who.contains_key(text))?;
        let known = metric::WORDS.iter().map(|word| (*word).to_owned()).chain(file.figures.keys().cloned());
        Some((text.to_owned(), unknown("figure or database", &wrong, known.chain(file.who.keys().cloned()))))
    })
}

/// The first word of an expression that names no figure.
fn wrong_word(file: &StudyFile, definition: &str) -> Option<String> {
    let plain = filled(parts(definition).2, |_| Some("0".to_owned()))?;
    let mut first = operands(&plain).into_iter().filter_map(|(_, words)| words.first().copied());
    let is_known =
        |name: &&str| value(name).is_number() || file.figures.contains_key(*name) || metric::is_known(name);
    first.find(|name| !is_known(name)).map(str::to_owned)
}

/// A range that there is not, or that cannot be found.
fn wrong_range(file: &StudyFile) -> Option<(String, String)> {
    let tables = file.tables.iter().flat_map(|table| [&table.each, &table.rows]);
    let drawings = file.drawings.iter().flat_map(|drawing| [&drawing.each, &drawing.rows]);
    let claims = file.claims.iter().chain(&file.environments).map(|claim| &claim.over);
    let ranges: Vec<&str> = tables.chain(drawings).chain(claims).flat_map(|ranges| names(ranges)).collect();
    let mut known: Vec<&str> = file.over.keys().map(String::as_str).chain([IMPLEMENTATION]).collect();
    let bound = ranges.iter().filter_map(|range| range.split_once(" in "));
    known.extend(bound.flat_map(|(names, _)| names.split(' ')));
    let found = file.over.values().filter_map(|range| match range {
        Range::Found(text) if !text.contains('\n') => text.split(' ').next(),
        _ => None,
    });
    let plain = ranges.into_iter().filter(|range| !range.contains(" = ") && !range.contains("s of "));
    let plain = plain.map(|range| range.split_once(" in ").map_or(range, |(_, range)| range));
    first_unknown("range", plain, &known).or_else(|| first_unknown("way to find a range", found, &RANGES))
}

/// A printed table, section or relation that there is not.
fn wrong_table(file: &StudyFile) -> Option<(String, String)> {
    let drawn = file.drawings.iter().flat_map(|drawing| drawing.printed.lines());
    let drawn = drawn.map(|text| text.split_once(" of ").map_or(text, |(_, table)| table));
    let tables = drawn.chain(file.tables.iter().map(|table| &*table.of));
    let printed: Vec<&str> = file.printed.keys().map(String::as_str).collect();
    let sections: Vec<&str> = file.study.sections.iter().map(|[id, _]| &**id).collect();
    let relations = file.claims.iter().chain(&file.environments).map(|claim| &*claim.is);
    first_unknown("printed table", tables, &printed)
        .or_else(|| first_unknown("section", file.tables.iter().map(|table| &*table.section), &sections))
        .or_else(|| first_unknown("relation", relations, &RELATIONS))
}
