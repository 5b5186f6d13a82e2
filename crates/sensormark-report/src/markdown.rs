//! The report for documents: CommonMark with pipe tables. It draws what the document says and computes nothing.

use crate::prelude::*;

/// The whole report.
pub fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", escaped(&document.title));
    for section in &document.sections {
        text += &format!("\n## {}\n", escaped(&section.title));
        for block in section.for_people() {
            text.push('\n');
            text += &match block.as_ref() {
                Block::Paragraph { text } => format!("{}\n", escaped(text)),
                Block::List { items } => list(items),
                Block::Table(table) => drawn(table),
            };
        }
    }
    text
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}\n", escaped(item))).collect()
}

fn drawn(table: &Table) -> String {
    let mut text = format!("**{}**\n\n", escaped(&table.title));
    if table.is_detail {
        return text + &format!("{} rows: `--format csv` or `json` prints them.\n", table.rows.len());
    }
    for column in &table.columns {
        let unit = if column.unit.is_empty() { String::new() } else { format!(" ({})", column.unit) };
        text += &format!("| {} ", escaped(&format!("{}{unit}", column.name)));
    }
    text += "|\n";
    for column in 0..table.columns.len() {
        let is_words = table.rows.iter().any(|row| row[column].is_text());
        text += if is_words { "| --- " } else { "| ---: " };
    }
    text += "|\n";
    for row in &table.rows {
        for cell in row {
            text += &format!("| {} ", escaped(&cell_text(cell)));
        }
        text += "|\n";
    }
    if !table.notes.is_empty() {
        text.push('\n');
        text += &list(&table.notes);
    }
    text
}

/// Text without any meaning of its own: every character that Markdown or HTML could read as markup is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (place, character) in text.char_indices() {
        match character {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => escaped.extend(['\\', character]),
            // Only at the start of a line do these make headings, lists and rules; URLs link themselves by "://".
            '#' | '+' | '-' | '=' if place == 0 => escaped.extend(['\\', character]),
            ':' if text[place..].starts_with("://") => escaped += "&#58;",
            '@' => escaped += "&#64;",
            _ => escaped.push(character),
        }
    }
    escaped
}
