//! The report for documents: CommonMark with pipe tables. It draws what the document says and computes nothing.

use crate::prelude::*;

/// The whole report.
pub fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", escaped(&document.title));
    for section in &document.sections {
        text.push_str(&format!("\n## {}\n", escaped(&section.title)));
        for block in section.for_people() {
            text.push('\n');
            match block.as_ref() {
                Block::Paragraph(sentences) => text.push_str(&format!("{}\n", escaped(sentences))),
                Block::List(items) => push_list(&mut text, items),
                Block::Table(table) => push_table(&mut text, table),
            }
        }
    }
    text
}

fn push_list(text: &mut String, items: &[String]) {
    for item in items {
        text.push_str(&format!("- {}\n", escaped(item)));
    }
}

fn push_table(text: &mut String, table: &Table) {
    text.push_str(&format!("**{}**\n\n", escaped(&table.title)));
    if table.is_detail {
        text.push_str(&format!("{} rows: `--format csv` or `json` prints them.\n", table.rows.len()));
        return;
    }
    for column in &table.columns {
        let unit = if column.unit.is_empty() { String::new() } else { format!(" ({})", column.unit) };
        text.push_str(&format!("| {} ", escaped(&format!("{}{unit}", column.name))));
    }
    text.push_str("|\n");
    for column in 0..table.columns.len() {
        let is_words = table.rows.iter().any(|row| row[column].is_text());
        text.push_str(if is_words { "| --- " } else { "| ---: " });
    }
    text.push_str("|\n");
    for row in &table.rows {
        for cell in row {
            text.push_str(&format!("| {} ", escaped(&cell_text(cell))));
        }
        text.push_str("|\n");
    }
    if !table.notes.is_empty() {
        text.push('\n');
        push_list(text, &table.notes);
    }
}

/// Text without any meaning of its own: every character that Markdown or HTML could read as markup is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (place, character) in text.char_indices() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            // Only at the start of a line do these make headings, lists and rules; URLs link themselves by "://".
            '#' | '+' | '-' | '=' if place == 0 => {
                escaped.push('\\');
                escaped.push(character);
            }
            ':' if text[place..].starts_with("://") => escaped.push_str("&#58;"),
            '@' => escaped.push_str("&#64;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
