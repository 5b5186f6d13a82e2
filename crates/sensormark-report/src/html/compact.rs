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
    fn place(&mut self, text: String) -> usize {
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        let place = self.all.len();
        self.all.push(text.clone());
        self.places.insert(text, place);
        place
    }

    /// Words: their place. A figure: its text's place, itself, and its interval. Nothing: the place of the reason.
    fn cell(&mut self, cell: &Cell) -> Value {
        if let Cell::Missing(reason) = cell {
            return json!([self.place(reason.clone())]);
        }
        let text = self.place(cell_text(cell));
        match cell {
            Cell::Count(count) => json!([text, count]),
            Cell::Number(number) => match number.spread.interval() {
                Some(interval) => json!([text, number.value, interval.low, interval.high]),
                None => json!([text, number.value]),
            },
            Cell::Text(_) | Cell::Missing(_) => json!(text),
        }
    }
}

/// The document, with its cells' texts beside it.
pub fn document(document: &Document) -> Value {
    let mut texts = Texts::default();
    let mut value = json::shaped(document, &mut |cell| texts.cell(cell));
    value["texts"] = json!(texts.all);
    value
}
