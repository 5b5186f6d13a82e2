//! The report for programs: the document as JSON, every figure in full precision beside the text that people see.

use crate::prelude::*;

/// The version of this format; it changes when an older reader would misunderstand.
pub const FORMAT: &str = "sensormark-report/1";

/// A document as one JSON object, with a line end.
pub fn render(document: &Document) -> String {
    render_with(document, None)
}

/// The same with a summary, where there is one.
pub fn render_with(document: &Document, summary: Option<Value>) -> String {
    let mut value = value(document);
    if let Some(summary) = summary {
        value["summary"] = summary;
    }
    let mut text = serde_json::to_string_pretty(&value).expect("the keys are strings");
    text.push('\n');
    text
}

/// The same as a value.
pub fn value(document: &Document) -> Value {
    shaped(document, &mut cell)
}

/// The same with cells of another shape.
pub fn shaped(document: &Document, cell: &mut impl FnMut(&Cell) -> Value) -> Value {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            let blocks: Vec<Value> = section.blocks.iter().map(|one| block(one, cell)).collect();
            json!({ "id": section.id, "title": section.title, "blocks": blocks })
        })
        .collect();
    json!({ "format": FORMAT, "title": document.title, "sections": sections })
}

fn block(block: &Block, cell: &mut impl FnMut(&Cell) -> Value) -> Value {
    match block {
        Block::Paragraph(text) => json!({ "kind": "paragraph", "text": text }),
        Block::List(items) => json!({ "kind": "list", "items": items }),
        Block::Table(table) => table_value(table, cell),
    }
}

fn table_value(table: &Table, cell: &mut impl FnMut(&Cell) -> Value) -> Value {
    let columns: Vec<Value> =
        table.columns.iter().map(|column| json!({ "name": column.name, "unit": column.unit })).collect();
    let rows: Vec<Vec<Value>> = table.rows.iter().map(|row| row.iter().map(&mut *cell).collect()).collect();
    let mut value = json!({
        "kind": "table",
        "id": table.id,
        "title": table.title,
        "keys": table.keys,
        "columns": columns,
        "rows": rows,
        "notes": table.notes,
        "detail": table.is_detail,
    });
    if let Some(drawing) = table.drawing {
        value["drawing"] = drawing_value(drawing);
    }
    value
}

fn drawing_value(drawing: Drawing) -> Value {
    let shape = match drawing.shape {
        Shape::Bars => "bars",
        Shape::Lines => "lines",
        Shape::Forest => "forest",
    };
    json!({ "shape": shape, "logarithmic": drawing.logarithmic })
}

fn cell(cell: &Cell) -> Value {
    let text = cell_text(cell);
    match cell {
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
    }
}
