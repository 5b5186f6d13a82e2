//! The report for spreadsheets and data frames: one rectangular table, a line for each cell of each table, in full
//! precision. Sentences are lines without a table.

use crate::prelude::*;

/// The columns. `row` counts from 1 within a table; `item` is what the row is about (its key cells).
pub const HEADER: [&str; 10] =
    ["section", "table", "row", "item", "column", "unit", "value", "low", "high", "text"];

/// The whole report; line ends are those of RFC 4180.
///
/// # Panics
/// Never: it writes to memory.
pub fn render(document: &Document) -> String {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    let mut write = |fields: [String; 10]| writer.write_record(fields).expect("writing to memory");
    write(HEADER.map(str::to_owned));
    write(sentence("", &document.title));
    for section in &document.sections {
        for block in &section.blocks {
            match block {
                Block::Paragraph { text } => write(sentence(&section.id, text)),
                Block::List { items } => items.iter().for_each(|item| write(sentence(&section.id, item))),
                Block::Table(table) => {
                    lines(&section.id, table).into_iter().for_each(&mut write);
                    table.notes.iter().for_each(|note| write(sentence(&section.id, note)));
                }
            }
        }
    }
    let bytes = writer.into_inner().expect("writing to memory");
    String::from_utf8(bytes).expect("only text was written")
}

fn sentence(section: &str, text: &str) -> [String; 10] {
    let mut fields: [String; 10] = Default::default();
    section.clone_into(&mut fields[0]);
    fields[9] = defused(text);
    fields
}

fn lines(section: &str, table: &Table) -> Vec<[String; 10]> {
    let mut lines = vec![];
    for (row, cells) in table.rows.iter().enumerate() {
        let item = defused(&cells.iter().take(table.keys).map(cell_text).join(" / "));
        for (cell, column) in cells.iter().zip(&table.columns).skip(table.keys) {
            let [value, low, high] = numbers(cell);
            let text = if cell.is_text() { defused(&cell_text(cell)) } else { remark(cell) };
            lines.push([
                section.to_owned(),
                table.id.clone(),
                (row + 1).to_string(),
                item.clone(),
                defused(&column.name),
                defused(&column.unit),
                value,
                low,
                high,
                text,
            ]);
        }
    }
    lines
}

fn numbers(cell: &Cell) -> [String; 3] {
    match cell {
        Cell::Text(_) | Cell::Missing(_) => Default::default(),
        Cell::Count(count) => [count.to_string(), String::new(), String::new()],
        Cell::Number(number) => {
            let (low, high) = number.spread.interval().map_or_else(Default::default, |interval| {
                (interval.low.to_string(), interval.high.to_string())
            });
            [number.value.to_string(), low, high]
        }
    }
}

/// Why there is no figure, or what there is instead of its interval.
fn remark(cell: &Cell) -> String {
    match cell {
        Cell::Missing(reason) => defused(reason),
        Cell::Number(Number { spread: Spread::Extremes(of), .. }) => format!("range {}–{}", of.low, of.high),
        Cell::Text(_) | Cell::Count(_) | Cell::Number(_) => String::new(),
    }
}

/// Text that a spreadsheet will not take for a formula: one that could be gets an apostrophe in front, which
/// spreadsheets do not show.
fn defused(text: &str) -> String {
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%']);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}
