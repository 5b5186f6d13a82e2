//! Layouts that a store's file has, as the contract knows them.

use crate::files::Files;
use crate::sections::{Block, File};
use sensormark_store::{
    DefaultSelection, Encoding, Family, FieldType, Layout, LayoutOption, Schema, Shape, Table, TagPlacement,
    TimeResolution,
};

/// The word for a family; none for one that files have no layouts of.
const fn family_word(family: Family) -> Option<&'static str> {
    match family {
        Family::PerReading => Some("reading"),
        Family::PerSpan { span_ns } if span_ns > 0 => Some("span"),
        Family::Summary { per_ns, .. } if per_ns > 0 => Some("sums"),
        Family::Bucketed { per_ns, limit, .. } if per_ns > 0 && limit > 0 => Some("buckets"),
        Family::GrowingArray => Some("array"),
        _ => None,
    }
}

/// The family that a layout of this shape is of.
pub const fn family_of(shape: Shape) -> Family {
    match shape {
        Shape::RowPerReading | Shape::RowPerField | Shape::NativeTimeSeries => Family::PerReading,
        Shape::RecordPerSpan { span_ns, .. } => Family::PerSpan { span_ns },
        Shape::Bucketed { limit, per_ns, split, .. } => Family::Bucketed { limit, per_ns, split },
        Shape::Summary { per_ns, split } => Family::Summary { per_ns, split },
        Shape::GrowingArray => Family::GrowingArray,
    }
}

/// What is said of a layout with this word, by itself or by one that it is based on.
pub fn option<'a>(lineage: &[&'a Block], word: &str) -> Option<&'a str> {
    lineage.iter().find_map(|block| block.options.get(word)).map(String::as_str)
}

/// The contract's layout of a block; none where what it says of it cannot be read.
fn layout_of(lineage: &[&Block], tags: TagPlacement, family: Family) -> Option<Layout> {
    let mut kept = toml::Table::new();
    for block in lineage.iter().rev() {
        if let Some(text) = block.options.get("kept") {
            let text = text.replace(", ", "\n");
            kept.extend(toml::from_str::<toml::Table>(&text).ok()?);
        }
    }
    let mut word = |name: &str| kept.remove(name).and_then(|value| value.as_str().map(str::to_owned));
    let encoding: Option<Encoding> =
        word("encoding").and_then(|name| serde_json::from_value(name.into()).ok());
    let shape = word("shape");
    let shape = match (family, shape) {
        (_, Some(name)) => serde_json::from_value(name.into()).ok()?,
        (Family::PerSpan { span_ns }, _) => Shape::RecordPerSpan { span_ns, encoding: encoding? },
        (Family::Summary { per_ns, split }, _) => Shape::Summary { per_ns, split },
        (Family::Bucketed { limit, per_ns, split }, _) => {
            let extremes = word("extremes").map(|name| serde_json::from_value(name.into()));
            Shape::Bucketed { limit, per_ns, split, extremes: extremes.transpose().ok()?.unwrap_or_default() }
        }
        (Family::GrowingArray, _) => Shape::GrowingArray,
        _ => Shape::RowPerReading,
    };
    let usual = Layout::row_per_reading().with_shape(shape).with_tags(tags);
    let mut value = serde_json::to_value(usual).ok()?;
    for (name, setting) in kept {
        value.as_object_mut()?.insert(name, serde_json::to_value(setting).ok()?);
    }
    serde_json::from_value(value).ok()
}

/// Where tags usually are: in a table of their own where series have several, because each row would repeat them.
fn usual_tags(files: &Files, schema: &Schema) -> TagPlacement {
    let text = &files.config.text;
    let least = if text.tags_apart { 0 } else { 1 };
    let several = !text.inline_tags && schema.tables.iter().any(|table| table.tags.len() > least);
    if several { TagPlacement::OwnTable } else { TagPlacement::Inline }
}

/// The layouts that the file has for this schema and family, in its order, but the usual one first. Those that need channels are alone among channels.
pub fn offers(files: &Files, schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let Some(word) = family_word(family) else {
        return Vec::new();
    };
    let file = &files.file;
    let usual = usual_tags(files, schema);
    let mut columns = schema.tables.iter().flat_map(|table| table.series.columns());
    let is_long = columns.any(|column| files.config.is_long(column));
    let needs_channels = |block: &Block| block.options.get("needs").is_some_and(|need| need == "channels");
    let are_channels = |block: &Block| needs_channels(block) && fits(block, schema);
    let among_channels = word == "reading" && file.blocks.iter().any(are_channels);
    let mut offers = Vec::new();
    for block in file.blocks.iter().filter(|block| !block.is_beneath) {
        let lineage = file.lineage(&block.name);
        let placed = match block.options.get("tags").map(String::as_str) {
            None => usual,
            Some("inline") => TagPlacement::Inline,
            Some(_) => TagPlacement::OwnTable,
        };
        let is_same = block.options.contains_key("tags") && (placed == usual || !schema.has_tags());
        let is_too_long = is_long && placed == TagPlacement::Inline;
        let is_out = needs_channels(block) != among_channels || is_same || is_too_long;
        if option(&lineage, "family") != Some(word) || is_out || !fits(block, schema) {
            continue;
        }
        let measured = block.options.get("measured").map_or("on request", String::as_str);
        if let Some(layout) = layout_of(&lineage, placed, family) {
            offers.push(LayoutOption {
                // What stands before it is the family's or channels'.
                variant: block.name.split_once('-').map_or("", |(_, variant)| variant).to_owned(),
                layout,
                default_selection: selection(measured, schema),
                description: block.says.clone(),
            });
        }
    }
    offers.sort_by_key(|offer| offer.default_selection != DefaultSelection::Usual);
    offers
}

/// Whether the schema has what a layout needs.
fn fits(block: &Block, schema: &Schema) -> bool {
    let mut fields = schema.tables.iter().flat_map(|table| &table.fields);
    match block.options.get("needs").map(String::as_str) {
        Some("tags") => schema.has_tags(),
        Some("several tagged tables") => {
            schema.tables.len() > 1 && schema.tables.iter().all(|table| !table.tags.is_empty())
        }
        Some("entities") => schema.tables.iter().any(|table| table.entity.is_some()),
        Some("whole microseconds") => resolved(schema, TimeResolution::Microseconds),
        Some("whole milliseconds") => resolved(schema, TimeResolution::Milliseconds),
        Some("several fields of one type") => {
            let alike = |table: &Table| table.fields.iter().all(|field| field.kind == table.fields[0].kind);
            schema.tables.iter().any(|table| table.fields.len() > 1) && schema.tables.iter().all(alike)
        }
        Some("numbers of 16 bits") => fields.all(|field| field.kind == FieldType::U16),
        // Several fields of machines: whole numbers of 16 bits, and nothing that tells devices apart.
        Some("channels") => !schema.has_tags() && fields.all(|field| field.kind == FieldType::U16),
        Some("fields of one type") => {
            let first = fields.next().map(|field| field.kind);
            fields.all(|field| Some(field.kind) == first)
        }
        _ => true,
    }
}

/// Whether all times are whole units of this, or of a longer one.
fn resolved(schema: &Schema, unit: TimeResolution) -> bool {
    schema.tables.iter().all(|table| table.time_resolution >= unit)
}

/// Whether a table is what platforms keep values of devices in: tagged, with a field for each type, of which a value fills one.
fn is_of_devices(table: &Table) -> bool {
    let is_typed = table.fields.len() > 1 && table.fields.iter().all(|field| field.nullable);
    is_typed && !table.tags.is_empty() && table.entity.is_none()
}

fn selection(measured: &str, schema: &Schema) -> DefaultSelection {
    let entities = schema.tables.iter().any(|table| table.entity.is_some());
    let is_narrow =
        |table: &Table| table.fields.len() <= 8 && table.fields.iter().all(|field| !field.nullable);
    match measured.split_once(", ").unwrap_or((measured, "")) {
        (_, "always with entities") if entities => DefaultSelection::Further,
        (_, "always without tags") if !schema.has_tags() => DefaultSelection::Further,
        (_, "always with tags") if schema.has_tags() => DefaultSelection::Further,
        (_, "always with values of devices") if schema.tables.iter().any(is_of_devices) => {
            DefaultSelection::Further
        }
        ("always with few fields", _) if !schema.tables.iter().all(is_narrow) => DefaultSelection::OnRequest,
        ("always with whole milliseconds", _) if !resolved(schema, TimeResolution::Milliseconds) => {
            DefaultSelection::OnRequest
        }
        ("always with few fields" | "always with whole milliseconds", _) => DefaultSelection::Further,
        ("usual", _) => DefaultSelection::Usual,
        ("always", _) => DefaultSelection::Further,
        _ => DefaultSelection::OnRequest,
    }
}

/// The block of a layout; none where the file does not have it.
pub fn block_of(file: &File, layout: Layout) -> Option<&Block> {
    let family = family_of(layout.shape);
    let word = family_word(family)?;
    file.blocks.iter().filter(|block| !block.is_beneath).find(|block| {
        let lineage = file.lineage(&block.name);
        // Where they are otherwise, the block says it.
        let tags = match layout.tags {
            TagPlacement::OwnTable => TagPlacement::OwnTable,
            _ => TagPlacement::Inline,
        };
        option(&lineage, "family") == Some(word) && layout_of(&lineage, tags, family) == Some(layout)
    })
}
