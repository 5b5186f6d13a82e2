//! The report's document for the page, small: every text stands once, and cells point at it. The page's script (`tables.js`) makes of it what
//! `report --format json` prints; it says nothing else.

use crate::{json, prelude::*};
use std::collections::HashMap;

/// Texts in the order of their first use, and where each is.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    places: HashMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: &str) -> usize {
        *self.places.entry(text.to_owned()).or_insert_with(|| {
            self.all.push(text.to_owned());
            self.all.len() - 1
        })
    }

    /// Words: their place. A figure: its text's place, itself, and its interval. Nothing: the place of the reason.
    fn cell(&mut self, cell: &Value) -> Value {
        let mut place = |key: &str| self.place(cell[key].as_str().unwrap_or_default());
        if cell.get("missing").is_some() {
            return json!([place("missing")]);
        }
        let text = place("text");
        match (cell.get("value"), cell.get("low")) {
            (None, _) => json!(text),
            (value, None) => json!([text, value]),
            (value, low) => json!([text, value, low, cell["high"]]),
        }
    }
}

/// The document and what a page alone has, with its cells' texts beside it.
pub fn document(document: &Document, further: Option<Section>) -> Value {
    let mut texts = Texts::default();
    let mut value = json::value(document);
    if let (Some(sections), Some(further)) = (value["sections"].as_array_mut(), further) {
        sections.push(json!(further));
    }
    for section in each(&mut value, "sections") {
        for block in each(section, "blocks") {
            for cell in each(block, "rows").filter_map(Value::as_array_mut).flatten() {
                *cell = texts.cell(cell);
            }
        }
    }
    value["texts"] = json!(texts.all);
    value
}

/// The items of a list in a value; none where it is not there.
fn each<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}
