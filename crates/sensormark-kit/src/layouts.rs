//! How a store names the layouts that it offers.

use sensormark_store::{DefaultSelection, Layout, LayoutOption, Schema, TagPlacement};

/// A layout on offer: what tells it from the store's others of its family, when it is measured, and its tables in the database's own words.
pub fn offer(
    variant: &str,
    layout: Layout,
    default_selection: DefaultSelection,
    description: impl Into<String>,
) -> LayoutOption {
    LayoutOption { variant: variant.to_owned(), layout, default_selection, description: description.into() }
}

/// Where a store keeps tags that names series by their numbers: in a table of their own, if there are any.
pub fn tags_apart(schema: &Schema) -> TagPlacement {
    if schema.has_tags() { TagPlacement::OwnTable } else { TagPlacement::Inline }
}
