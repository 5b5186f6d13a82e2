//! The report for a terminal: plain text that keeps within a width, numbers aligned at their points. It draws what the
//! document says and computes nothing.

use crate::{number::MISSING, prelude::*};

/// The narrowest that is drawn; a narrower terminal wraps.
pub const NARROWEST: usize = 40;
/// Sentences are not drawn wider than this, however wide the terminal: longer lines are hard to read.
const WIDEST_SENTENCE: usize = 100;
/// Between columns.
const GAP: usize = 2;
/// A column of words may be narrowed to this many characters before a table is split.
const NARROWEST_WORDS: usize = 24;

/// The whole report, no line wider than `width` (at least [`NARROWEST`]).
pub fn render(document: &Document, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut lines = wrap(&document.title, width);
    let sections = document.sections.iter().map(|section| section.title.as_str()).collect_vec();
    if sections.len() > 1 {
        lines.push(String::new());
        lines.extend(wrap(&format!("Contents: {}", sections.join(" · ")), width.min(WIDEST_SENTENCE)));
    }
    for section in &document.sections {
        lines.push(String::new());
        render_section(section, width, &mut lines);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn render_section(section: &Section, width: usize, lines: &mut Vec<String>) {
    lines.extend(wrap(&section.title, width));
    lines.push("=".repeat(section.title.width().min(width)));
    let sentence = width.min(WIDEST_SENTENCE);
    let blocks = section.for_people();
    for (place, block) in blocks.iter().enumerate() {
        match block.as_ref() {
            Block::Paragraph { text } => lines.extend(wrap(text, sentence)),
            Block::List { items } => {
                for item in items {
                    lines.extend(indented("- ", item, sentence));
                }
            }
            Block::Table(table) => {
                if place > 0 {
                    lines.push(String::new());
                }
                render_table(table, width, lines);
                if place + 1 < blocks.len() {
                    lines.push(String::new());
                }
            }
        }
    }
    lines.dedup_by(|second, first| first.is_empty() && second.is_empty());
}

fn render_table(table: &Table, width: usize, lines: &mut Vec<String>) {
    if !table.title.is_empty() {
        lines.extend(wrap(&table.title, width));
    }
    if table.is_detail {
        let text = format!("{} rows: --format csv or json prints them.", table.rows.len());
        lines.extend(wrap(&text, width));
        return;
    }
    if table.drawing.is_some_and(|drawing| drawing.shape == Shape::Forest) {
        lines.extend(super::forest::lines(table, width));
        return;
    }
    let columns = (0..table.columns.len()).map(|column| Drawn::new(table, column)).collect_vec();
    let keys = table.keys.min(columns.len());
    for (part, shown) in parts(&columns, keys, width).into_iter().enumerate() {
        if part > 0 {
            lines.push(String::new());
        }
        render_part(&columns, &shown, table.rows.len(), width, lines);
    }
    for note in &table.notes {
        lines.extend(indented("* ", note, width.min(WIDEST_SENTENCE)));
    }
}

/// A column ready to be drawn.
struct Drawn {
    name: String,
    unit: Option<String>,
    is_words: bool,
    cells: Vec<String>,
    natural: usize,
    narrowest: usize,
}

impl Drawn {
    fn new(table: &Table, column: usize) -> Self {
        let cells = table.rows.iter().map(|row| &row[column]).collect_vec();
        let is_words = cells.iter().any(|cell| cell.is_text());
        let cells = if is_words { cells.into_iter().map(cell_text).collect() } else { aligned(&cells) };
        let head = &table.columns[column];
        let unit = (!head.unit.is_empty()).then(|| format!("[{}]", head.unit));
        let longest_word = head
            .name
            .split(' ')
            .chain(unit.iter().flat_map(|unit| unit.split(' ')))
            .map(UnicodeWidthStr::width)
            .max()
            .unwrap_or(0);
        let natural = cells.iter().map(|cell| cell.width()).max().unwrap_or(0).max(longest_word);
        Self {
            name: head.name.clone(),
            unit,
            is_words,
            narrowest: if is_words { natural.min(NARROWEST_WORDS.max(longest_word)) } else { natural },
            natural,
            cells,
        }
    }
}

/// Numbers as texts of one width, their points below each other.
fn aligned(cells: &[&Cell]) -> Vec<String> {
    let split = cells
        .iter()
        .map(|cell| {
            let mut head = cell_text(cell);
            let is_head = |one: char| one.is_ascii_digit() || matches!(one, ',' | '-');
            let end = head.find(|one| !is_head(one)).filter(|_| head != MISSING).unwrap_or(head.len());
            let tail = head.split_off(end);
            (head, tail)
        })
        .collect_vec();
    let heads = split.iter().map(|(head, _)| head.width()).max().unwrap_or(0);
    let tails = split.iter().map(|(_, tail)| tail.width()).max().unwrap_or(0);
    split.iter().map(|(head, tail)| left_padded(head, heads) + &right_padded(tail, tails)).collect()
}

/// Which columns stand beside each other, with their widths: as many as fit, the keys in every part.
fn parts(columns: &[Drawn], keys: usize, width: usize) -> Vec<Vec<(usize, usize)>> {
    let key_limit = (width * 2 / 5).max(14);
    let limit = if keys == columns.len() { width } else { key_limit / keys.max(1) };
    let keyed = columns[..keys].iter().map(|drawn| drawn.natural.min(limit.max(4))).enumerate().collect_vec();
    let used = |part: &[(usize, usize)]| part.iter().map(|(_, width)| width + GAP).sum::<usize>();
    let room = width.saturating_sub(used(&keyed));
    let (mut parts, mut part) = (vec![], keyed.clone());
    for (column, drawn) in columns.iter().enumerate().skip(keys) {
        let needed = drawn.narrowest.min(room);
        if part.len() > keys && used(&part) + needed > width {
            parts.push(std::mem::replace(&mut part, keyed.clone()));
        }
        part.push((column, needed));
    }
    parts.push(part);
    parts.iter_mut().for_each(|part| widen(columns, part, width));
    parts
}

/// Gives what is left of the width to the columns that were narrowed.
fn widen(columns: &[Drawn], widths: &mut [(usize, usize)], width: usize) {
    let used: usize = widths.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
    let mut left = width.saturating_sub(used);
    for (column, own) in widths.iter_mut() {
        let more = columns[*column].natural.saturating_sub(*own).min(left);
        *own += more;
        left -= more;
    }
}

fn render_part(
    columns: &[Drawn],
    shown: &[(usize, usize)],
    rows: usize,
    width: usize,
    lines: &mut Vec<String>,
) {
    let heads = shown.iter().map(|&(column, width)| {
        let units = columns[column].unit.iter().flat_map(|unit| wrap(unit, width));
        wrap(&columns[column].name, width).into_iter().chain(units).collect_vec()
    });
    let mut heads = heads.collect_vec();
    let tallest = heads.iter().map(Vec::len).max().unwrap_or(0);
    for head in &mut heads {
        head.splice(0..0, vec![String::new(); tallest - head.len()]);
    }
    push_lines(columns, shown, &heads, lines);
    let total = shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
    lines.push("-".repeat(total.min(width)));
    for row in 0..rows {
        let cells = shown.iter().map(|&(column, width)| {
            let cell = &columns[column].cells[row];
            if cell.width() <= width { vec![cell.clone()] } else { wrap(cell, width) }
        });
        push_lines(columns, shown, &cells.collect_vec(), lines);
    }
}

/// One row of cells, each perhaps of several lines.
fn push_lines(columns: &[Drawn], shown: &[(usize, usize)], cells: &[Vec<String>], lines: &mut Vec<String>) {
    let tallest = cells.iter().map(Vec::len).max().unwrap_or(0);
    for line in 0..tallest {
        let texts = shown.iter().zip(cells).map(|(&(column, width), cell)| {
            let part = cell.get(line).map_or("", String::as_str);
            let pad = if columns[column].is_words { right_padded } else { left_padded };
            pad(part, width)
        });
        lines.push(texts.collect_vec().join(&" ".repeat(GAP)));
    }
}

/// The text at the left of so many columns.
pub fn right_padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The text at the right of so many columns.
pub fn left_padded(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// The text in lines, the first after a mark, the others below it. A command is copied, so it is never wrapped.
fn indented(mark: &str, text: &str, width: usize) -> Vec<String> {
    if text.starts_with(COMMAND) {
        return vec![format!("{mark}{text}")];
    }
    let lines = wrap(text, width.saturating_sub(mark.width()));
    let mark_of = |line: usize| {
        if line == 0 { mark.to_owned() } else { " ".repeat(mark.width()) }
    };
    lines.into_iter().enumerate().map(|(line, text)| mark_of(line) + &text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", "A table", "implementation; CPU [% of a core]; memory [kB]; why");
        table.row(vec![
            Cell::text("PostgreSQL row-per-channel, read bulk-1"),
            Cell::number(1.5),
            Cell::Count(123_456),
            Cell::text("a reason of many words that has to be wrapped somewhere"),
        ]);
        table.row(vec![
            Cell::text("SQLite"),
            Cell::number(123.4),
            Cell::Missing(String::new()),
            Cell::text("-"),
        ]);
        table
    }

    fn drawn(width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        render_table(&table(), width, &mut lines);
        lines
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for width in [40, 53, 80, 120, 200] {
            for line in drawn(width) {
                assert!(line.width() <= width, "{width}: {line:?} is {}", line.width());
            }
        }
    }

    #[test]
    fn points_stand_below_each_other() {
        let lines = drawn(200);
        let point = |line: &str| line.split_once('.').map(|(before, _)| before.width());
        let first = lines.iter().find(|line| line.starts_with("PostgreSQL")).unwrap();
        assert!(first.contains("  1.50 "), "{first}");
        // 123 has no decimals: its last digit stands above where the point would be.
        let second = lines.iter().find(|line| line.starts_with("SQLite")).unwrap();
        assert_eq!(second.find("123").map(|at| at + 3), point(first), "{first}\n{second}");
    }

    #[test]
    fn a_word_that_is_too_long_is_broken() {
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 10), [""]);
        let layout = "SQLite individual-row-per-field, read";
        assert_eq!(wrap(layout, 16), ["SQLite", "individual-row-", "per-field, read"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
    }
}
