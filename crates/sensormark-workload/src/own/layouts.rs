//! Which of a store's layouts are measured unasked, of a workload that is about an index and about ways of writing.

use sensormark_store::{DefaultSelection, Index, Layout, LayoutOption, Shape, WriteMethod};
use serde::{Deserialize, Serialize};

/// With or without an index on series and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Indexes {
    /// Both.
    Both,
    /// With one alone.
    With,
    /// Without one alone, where that is possible.
    Without,
    /// One on the series alone, then the store's usual one.
    Series,
}

/// Ways of writing many readings at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statements {
    /// The store's usual one.
    Usual,
    /// All that the store has: single INSERTs in one string, one INSERT of many rows, the fast path.
    All,
}

/// The layout with an index on the series first, and the store's own after it.
fn choose_series(offers: &mut [LayoutOption]) {
    let wanted = |LayoutOption { layout, .. }: &LayoutOption| {
        layout.index == Index::Series && layout.shape == Shape::RowPerReading && !layout.foreign_key
    };
    let Some(place) = offers.iter().position(wanted).filter(|place| *place > 0) else { return };
    let usual = &mut offers[0];
    let by_time = if usual.layout.index == Index::SeriesTime { "time-index" } else { "by-time" };
    by_time.clone_into(&mut usual.variant);
    usual.default_selection = DefaultSelection::Further;
    offers[place].variant.clear();
    offers[place].default_selection = DefaultSelection::Usual;
    offers[..=place].rotate_right(1);
}

/// Says which layouts of a row a reading are measured, the usual one first.
pub fn choose(index: Indexes, statements: Statements, offers: &mut [LayoutOption]) {
    if index == Indexes::Series {
        return choose_series(offers);
    }
    let Some(usual) = offers.first().map(|offer| offer.layout) else {
        return;
    };
    let has = |layout: Layout| offers.iter().any(|offer| offer.layout == layout);
    let without = usual.with_index(Index::None);
    // Where rows are kept by a key that cuts a sensor's readings into parts, one that keeps all of a sensor together is measured.
    let together = usual.with_index(Index::Series);
    let with = if usual.index == Index::Clustered && has(together) { together } else { usual };
    let may_choose = has(without);
    for offer in offers {
        let layout = offer.layout;
        let is_way_of_writing = !matches!(layout.write, WriteMethod::Usual | WriteMethod::Datagram)
            && layout == usual.with_write(layout.write);
        // Other ways to keep the rows of a sensor together, where the store has them measured.
        let is_kept_together = layout.write == WriteMethod::Usual
            && offer.default_selection == DefaultSelection::Further
            && matches!(
                (layout.shape, layout.index),
                (Shape::RowPerReading, Index::Clustered) | (Shape::NativeTimeSeries, _)
            );
        let is_indexed =
            layout == with || is_kept_together || (is_way_of_writing && statements == Statements::All);
        let is_measured = match index {
            Indexes::Both => is_indexed || layout == without,
            Indexes::With | Indexes::Series => is_indexed,
            Indexes::Without => layout == if may_choose { without } else { with },
        };
        offer.default_selection = match is_measured {
            true if offer.default_selection == DefaultSelection::Usual => DefaultSelection::Usual,
            true => DefaultSelection::Further,
            false => DefaultSelection::OnRequest,
        };
    }
}
