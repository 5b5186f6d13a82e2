//! Rows out of documents. A command's `read` is the shape of the answer's documents. What it names are the columns, in its order. An array of one document in it is
//! rows; other arrays hold columns. Without `read` it is the projection, or the last stage that makes documents.

use super::text::Node;
use super::writer::tag_of;
use mongodb::bson::{Bson, Document, RawArray, RawBsonRef, RawDocument};
use sensormark_kit::{self as kit, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// The column with a property's name ([`super::writer::property_name`]).
const PROPERTY: &str = "_p";

/// The columns of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    names: Vec<(String, Want)>,
    /// Its columns, with those inside.
    first: usize,
    pub(super) end: usize,
    has_rows: bool,
    property: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
enum Want {
    Column(usize),
    Inside(Shape),
    Items(usize, usize),
    Rows(Shape),
}

/// The columns of a command's answer; none where a document is one.
pub(super) fn shape_of(command: &mut Node) -> Option<Shape> {
    let read = command.take("read").or_else(|| {
        if let Some(projection) = command.get("projection") {
            return Some(projection.clone());
        }
        let Some(Node::Array(stages)) = command.get("pipeline") else { return None };
        let makes = |stage: &&Node| ["$project", "$group"].contains(&stage.first_name());
        let last = stages.iter().rfind(makes)?;
        last.entries().first().map(|(_, made)| made.clone())
    })?;
    let Node::Document(_) = read else { return None };
    Some(Shape::new(&read, &mut 0))
}

fn is_operator(node: &Node) -> bool {
    node.first_name().starts_with('$')
}

impl Shape {
    fn new(node: &Node, next: &mut usize) -> Self {
        let mut shape = Self { first: *next, ..Self::default() };
        for (name, value) in node.entries() {
            let name = name.text().unwrap_or_default();
            if !matches!(value, Node::Value(Bson::Int32(0) | Bson::Null)) {
                shape.add(name, value, next);
            }
        }
        shape.end = *next;
        shape
    }

    fn add(&mut self, name: &str, value: &Node, next: &mut usize) {
        let (name, inner) = name.split_once('.').map_or((name, None), |(name, inner)| (name, Some(inner)));
        if let Some(inner) = inner {
            let known = self.names.iter().position(|(other, _)| other == name);
            let place = known.unwrap_or_else(|| {
                let inside = Self { first: *next, ..Self::default() };
                self.names.push((name.to_owned(), Want::Inside(inside)));
                self.names.len() - 1
            });
            if let Want::Inside(inside) = &mut self.names[place].1 {
                inside.add(inner, value, next);
                inside.end = *next;
            }
            return;
        }
        let want = match value {
            Node::Array(all) => match all.as_slice() {
                [each @ Node::Document(_)] if !is_operator(each) => {
                    self.has_rows = true;
                    Want::Rows(Self::new(each, next))
                }
                items => {
                    *next += items.len();
                    Want::Items(*next - items.len(), items.len())
                }
            },
            Node::Document(_) if !is_operator(value) => Want::Inside(Self::new(value, next)),
            _ => {
                *next += 1;
                if name == PROPERTY {
                    self.property = Some(*next - 1);
                }
                Want::Column(*next - 1)
            }
        };
        self.names.push((name.to_owned(), want));
    }

    /// Hands over the rows of a document; whether more are wanted. `cells` are kept from document to document.
    pub(super) fn rows<'d>(
        &self,
        document: &'d RawDocument,
        cells: &mut Cells<'d>,
        each: &mut dyn FnMut(&Cells<'d>) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        cells.columns.resize(cells.columns.len().max(self.end), None);
        cells.columns[self.first..self.end].fill(None);
        let rows = self.fill(document, cells)?;
        if !self.has_rows {
            return each(cells);
        }
        let Some((inner, array)) = rows else { return Ok(true) };
        for element in array {
            let RawBsonRef::Document(document) = raw(element)? else {
                return Err(unexpected("a reading is no document"));
            };
            if !inner.rows(document, cells, each)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts what a document has into columns; its rows, where it has some.
    fn fill<'d, 's>(
        &'s self,
        document: &'d RawDocument,
        cells: &mut Cells<'d>,
    ) -> Result<Option<(&'s Self, &'d RawArray)>, StoreError> {
        let (mut next, mut rows) = (0, None);
        for element in document {
            let (name, value) = raw(element)?;
            let name = name.as_str();
            // They come in order as a rule.
            let place = match self.names.get(next) {
                Some((expected, _)) if expected == name => next,
                _ => match self.names.iter().position(|(other, _)| other == name) {
                    Some(place) => place,
                    None => continue,
                },
            };
            next = place + 1;
            match (&self.names[place].1, value) {
                (Want::Column(column), value) => {
                    if self.property == Some(*column) {
                        cells.property = (*column, tag_of(value.as_str().unwrap_or_default()));
                    }
                    cells.columns[*column] = Some(value);
                }
                (Want::Inside(inner), RawBsonRef::Document(inside)) => {
                    rows = inner.fill(inside, cells)?.or(rows);
                }
                (Want::Items(first, count), RawBsonRef::Array(items)) => {
                    for (column, item) in (*first..first + count).zip(items) {
                        cells.columns[column] = Some(raw(item)?);
                    }
                }
                (Want::Rows(inner), RawBsonRef::Array(array)) => rows = Some((inner, array)),
                (_, RawBsonRef::Null) => {}
                _ => return Err(unexpected("a document is of another shape")),
            }
        }
        Ok(rows)
    }
}

fn raw<T>(result: mongodb::bson::error::Result<T>) -> Result<T, StoreError> {
    result.map_err(|error| unexpected(&error.to_string()).with_source(error))
}

/// A row.
#[derive(Debug)]
pub(super) struct Cells<'d> {
    columns: Vec<Option<RawBsonRef<'d>>>,
    /// A property's column, and the tag's text.
    property: (usize, String),
}

impl<'d> Cells<'d> {
    /// These columns.
    pub(super) const fn of(columns: Vec<Option<RawBsonRef<'d>>>) -> Self {
        Self { columns, property: (usize::MAX, String::new()) }
    }
}

fn wrong_type() -> StoreError {
    unexpected("a value is of another type")
}

/// A value as people read it.
pub(super) fn printed(value: &Bson) -> String {
    match value {
        Bson::String(text) => text.clone(),
        Bson::Null => String::new(),
        Bson::Double(number) if number.fract() == 0.0 => format!("{number:.0}"),
        other => other.to_string(),
    }
}

impl Cells<'_> {
    /// The value in a column; of a document `{t, v}`, which was the largest by its time, `v`.
    fn at(&self, place: usize) -> Option<RawBsonRef<'_>> {
        let value = match self.columns.get(place).copied().flatten()? {
            RawBsonRef::Document(timed) if timed.get("t").is_ok_and(|time| time.is_some()) => {
                timed.get("v").ok()??
            }
            value => value,
        };
        Some(value).filter(|value| *value != RawBsonRef::Null)
    }
}

impl Row for Cells<'_> {
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let Some(value) = self.at(place) else {
            column.push_null();
            return Ok(());
        };
        match (&mut column.values, value) {
            (Values::Bool(values), RawBsonRef::Boolean(value)) => values.push(value),
            (Values::I64(values), RawBsonRef::Int64(value)) => values.push(value),
            (Values::U16(values), RawBsonRef::Int32(value)) => {
                values.push(u16::try_from(value).map_err(|_| wrong_type())?);
            }
            (Values::F64(values), RawBsonRef::Double(value)) => values.push(value),
            (Values::Text(values), RawBsonRef::String(value)) => values.push(value),
            _ => return Err(wrong_type()),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    /// A date is in ns.
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        if self.property.0 == place {
            return self.property.1.parse().map_err(|_| wrong_type());
        }
        match self.at(place) {
            Some(RawBsonRef::Int64(value)) => Ok(value),
            Some(RawBsonRef::Int32(value)) => Ok(value.into()),
            Some(RawBsonRef::DateTime(date)) => {
                date.timestamp_millis().checked_mul(1_000_000).ok_or_else(wrong_type)
            }
            _ => Err(wrong_type()),
        }
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        match self.at(place) {
            _ if self.property.0 == place => Ok(&self.property.1),
            Some(RawBsonRef::String(text)) => Ok(text),
            _ => Err(wrong_type()),
        }
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.at(place).and_then(|value| value.as_bool()).ok_or_else(wrong_type)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        Ok(match (kind, self.at(place)) {
            (_, None) => Value::Null,
            (FieldType::Bool, Some(RawBsonRef::Boolean(value))) => Value::Bool(value),
            (FieldType::Text, Some(RawBsonRef::String(text))) => Value::Text(text.to_owned()),
            (FieldType::F64, Some(RawBsonRef::Int32(value))) => Value::F64(value.into()),
            (FieldType::F64, Some(RawBsonRef::Int64(value))) => Value::F64(value as f64),
            // A sum of whole numbers that is over 64 bits is a floating point number.
            (FieldType::F64 | FieldType::I64 | FieldType::U16, Some(RawBsonRef::Double(value))) => {
                Value::F64(value)
            }
            (FieldType::I64 | FieldType::U16, Some(_)) => Value::I64(self.integer(place)?),
            _ => return Err(wrong_type()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        let Some(value) = self.at(place) else { return Ok(String::new()) };
        let value = Bson::try_from(value).map_err(|error| unexpected(&error.to_string()))?;
        Ok(printed(&value))
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.at(place).is_none())
    }

    fn document(&self, _: usize) -> Result<kit::Document<'_>, StoreError> {
        Err(wrong_type())
    }
}

/// What a document has at a path with dots; the parts after the first two may hold blanks.
pub(super) fn at_path<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
    let mut parts = path.split('.');
    let first = document.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_document()?.get(part))
}

#[cfg(test)]
mod tests {
    use super::super::text::parse;
    use super::*;
    use mongodb::bson::{RawDocumentBuf, doc};

    fn shape(command: &str) -> Shape {
        shape_of(&mut parse(command).expect("a command")).expect("a shape")
    }

    /// Each row as printed columns.
    fn rows(shape: &Shape, document: &RawDocument) -> Result<Vec<Vec<String>>, StoreError> {
        let (mut found, mut cells) = (Vec::new(), Cells::of(Vec::new()));
        shape.rows(document, &mut cells, &mut |cells| {
            found.push((0..shape.end).map(|place| cells.printed(place)).collect::<Result<_, _>>()?);
            Ok(true)
        })?;
        Ok(found)
    }

    fn of(shape: &Shape, document: &Document) -> Vec<Vec<String>> {
        rows(shape, &RawDocumentBuf::try_from(document).expect("a small document")).expect("of the shape")
    }

    #[test]
    fn columns_come_in_the_order_of_the_shape_and_not_of_the_document() {
        let flat = shape(r#"{find: "c", projection: {_id: 0, "t.b": 1, "t.a": 1, time: 1, v: [1, 1]}}"#);
        let document = doc! { "time": 5, "v": [1.5, 2.5], "t": { "a": "x", "b": "y" } };
        assert_eq!(of(&flat, &document), [["y", "x", "5", "1.5", "2.5"]]);
        let grouped = shape(
            r#"{aggregate: "c", pipeline: [{$group: {_id: {k0: "$a"}, v0: {$max: "$b"}}}, {$set: {v0: 1}}]}"#,
        );
        let latest = doc! { "_id": { "k0": 7 }, "v0": { "t": 1, "v": "last" } };
        assert_eq!(of(&grouped, &latest), [["7", "last"]]);
    }

    #[test]
    fn arrays_of_documents_are_rows_and_what_is_missing_is_none() {
        let nested = shape(r#"{read: {k: 1, p: [{_p: 1, r: [{t: 1, v: 1}]}]}}"#);
        let parts = [
            doc! { "_p": "a%2Eb", "r": [{ "t": 1, "v": 2 }, { "t": 3 }] },
            doc! { "r": [{ "v": 4 }], "_p": "c" },
        ];
        let document = doc! { "p": parts.to_vec(), "k": "host" };
        // Printed, a property is as the document has it.
        assert_eq!(of(&nested, &document)[..2], [["host", "a%2Eb", "1", "2"], ["host", "a%2Eb", "3", ""]]);
        let raw = RawDocumentBuf::try_from(&document).expect("a small document");
        let mut texts = Vec::new();
        let mut cells = Cells::of(Vec::new());
        let each = &mut |cells: &Cells<'_>| {
            texts.push(cells.text(1)?.to_owned());
            Ok(true)
        };
        nested.rows(&raw, &mut cells, each).expect("of the shape");
        assert_eq!(texts, ["a.b", "a.b", "c"]);
    }

    #[test]
    fn hostile_documents_are_refused_or_whole_rows() {
        let shapes = [
            shape(r#"{read: {k: 1, t: 1, v: 1}}"#),
            shape(r#"{read: {k: 1, m: [{t: 1, v: [1, 1]}]}}"#),
            shape(r#"{read: {k: 1, p: [{_p: 1, r: [{t: 1, v: 1}]}]}}"#),
        ];
        let reading = doc! { "t": 1_i64, "v": [1.5, 2.5] };
        let part = doc! { "_p": "a", "r": [reading.clone()] };
        let document = doc! { "k": "host", "t": 1_i64, "v": "text", "m": [reading], "p": [part] };
        let good = RawDocumentBuf::try_from(&document).expect("a small document").into_bytes();
        let mut refused = 0;
        for place in 4..good.len() - 1 {
            for value in [0, 1, 2, 3, 4, 0x10, 0x12, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[place] = value;
                let Ok(raw) = RawDocument::from_bytes(&bytes) else { continue };
                for shape in &shapes {
                    match rows(shape, raw) {
                        Ok(found) => assert!(found.iter().all(|row| row.len() == shape.end)),
                        Err(_) => refused += 1,
                    }
                }
            }
        }
        assert!(refused > 0, "nothing was refused");
    }
}
