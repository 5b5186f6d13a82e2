//! What is wrong with a study's file beyond its form: names of figures, databases, ranges and tables that there are not.

use super::*;
use toml::de::{DeTable, DeValue};

/// What a claim may say of two figures; nothing is `more` or `cheaper`, as the figure is.
const RELATIONS: [&str; 9] =
    ["more", "less", "cheaper", "to", "level", "within", "none", "physical", "virtual"];
/// How a range is found in a run.
const RANGES: [&str; 8] = ["parameter", "label", "ends", "steps", "later", "titles", "joined", "pairs"];

/// A word as it stands in the file, and what is wrong with it.
type Wrong = Option<(String, String)>;

/// The first wrong name of a file.
pub fn wrong(file: &StudyFile, source: &Source<'_>) -> Option<FileError> {
    source.root.get_ref().iter().find_map(|(section, rows)| {
        let rows = match rows.get_ref() {
            DeValue::Array(rows) => &rows[..],
            _ => std::slice::from_ref(rows),
        };
        let mut texts = rows
            .iter()
            .filter_map(|row| row.get_ref().as_table())
            .flat_map(|row| row.iter().map(move |(key, text)| (row, key, text)));
        texts.find_map(|(row, key, text)| {
            let words = (&**section.get_ref(), &**key.get_ref(), text.get_ref().as_str()?);
            let (word, message) = wrong_text(file, words, row)?;
            let start = text.span().start + source.typed(&text.span()).find(&word).unwrap_or(0);
            Some(source.error(&(start..start), message))
        })
    })
}

/// A name that is not known. Those with braces are known of a run alone.
fn wrong_name<'t>(kind: &str, name: &str, known: impl IntoIterator<Item = &'t str>) -> Wrong {
    let known = known.into_iter().collect_vec();
    let is_known = name.is_empty() || name.contains('{') || known.contains(&name);
    (!is_known).then(|| (name.to_owned(), unknown(kind, name, known.into_iter().map(str::to_owned))))
}

/// What is wrong with a text that names figures, databases, ranges, tables, sections or relations.
fn wrong_text(file: &StudyFile, (section, key, text): (&str, &str, &str), row: &DeTable<'_>) -> Wrong {
    let figure = |text: &str| wrong_figure(file, text);
    match (section, key) {
        ("study" | "who", _) => None,
        ("over", _) if text.contains('\n') => None,
        ("over", _) => wrong_name("way to find a range", text.split(' ').next()?, RANGES),
        ("figures", name) => {
            let is_itself = operands(parts(text).2).iter().any(|(_, words)| words.first() == Some(&name));
            if is_itself {
                Some((name.to_owned(), format!("the figure {name:?} names itself; give it another name")))
            } else {
                figure(text)
            }
        }
        ("printed", "rows") => cells(text).iter().find_map(|row| figure(row.first()?.as_str()?)),
        (_, "columns") => text.lines().find_map(|column| figure(named(column).1)),
        (_, "figure") => figure(text),
        (_, "left" | "right") => {
            let is_expressed = row.contains_key("words");
            names(text).filter(|side| is_expressed || !side.contains('{')).find_map(figure)
        }
        (_, "each" | "rows" | "over") => {
            // A row may run over what its `each` has.
            let bound = row.get("each").and_then(|each| each.get_ref().as_str()).unwrap_or_default();
            let known = file
                .over
                .keys()
                .map(String::as_str)
                .chain(bound.split(' '))
                .chain([IMPLEMENTATION])
                .collect_vec();
            let mut ranges = names(text).filter(|range| !range.contains(" = ") && !range.contains("s of "));
            ranges.find_map(|range| {
                let range = range.split_once(" in ").map_or(range, |(_, range)| range);
                wrong_name("range", range, known.iter().copied())
            })
        }
        (_, "printed") => text.lines().find_map(|text| {
            let table = text.split_once(" of ").map_or(text, |(_, table)| table);
            wrong_name("printed table", table, file.printed.iter().map(|printed| &*printed.id))
        }),
        (_, "section") => wrong_name("section", text, file.study.sections.iter().map(|[id, _]| &**id)),
        (_, "is") => wrong_name("relation", text, RELATIONS),
        _ => None,
    }
}

/// A figure or database that there is not: the first word of an operand.
fn wrong_figure(file: &StudyFile, text: &str) -> Wrong {
    if text.starts_with('{') || text.starts_with("best ") || file.who.contains_key(text) {
        return None;
    }
    let plain = filled(parts(text).2, |_| Some("0".to_owned()))?;
    let is_known =
        |name: &str| value(name).is_number() || file.figures.contains_key(name) || metric::is_known(name);
    let mut first = operands(&plain).into_iter().filter_map(|(_, words)| words.first().copied());
    let known =
        metric::WORDS.into_iter().chain(file.figures.keys().chain(file.who.keys()).map(String::as_str));
    wrong_name("figure or database", first.find(|name| !is_known(name))?, known)
}
