//! The report for programs: the document as JSON, every figure in full precision beside the text that people see.

use crate::prelude::*;
use serde::Serializer;

/// The version of this format; it changes when an older reader would misunderstand.
pub const FORMAT: &str = "sensormark-report/1";

/// A document as one JSON object, with a line end.
pub fn render(document: &Document) -> String {
    render_with(document, None)
}

/// The same with a summary, where there is one.
pub fn render_with(document: &Document, summary: Option<Summary>) -> String {
    let mut value = value(document);
    if let Some(summary) = summary {
        value["summary"] = json!(summary);
    }
    format!("{value:#}\n")
}

/// The same as a value.
pub fn value(document: &Document) -> Value {
    let mut value = serde_json::to_value(document).expect("the keys are strings");
    value["format"] = FORMAT.into();
    value
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = cell_text(self);
        let value = match self {
            Cell::Text(_) => json!({ "text": text }),
            Cell::Count(count) => json!({ "text": text, "value": count }),
            Cell::Number(number) => {
                let mut value = json!({ "text": text, "value": number.value });
                if let Some(interval) = number.spread.interval() {
                    value["low"] = json!(interval.low);
                    value["high"] = json!(interval.high);
                }
                if let Spread::Extremes(of) = number.spread {
                    value["smallest"] = json!(of.low);
                    value["largest"] = json!(of.high);
                }
                value
            }
            Cell::Missing(reason) => json!({ "text": text, "value": null, "missing": reason }),
        };
        value.serialize(to)
    }
}
