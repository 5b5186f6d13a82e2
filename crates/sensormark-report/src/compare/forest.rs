//! The figures of two runs as a forest: the ratio of each with its interval, the largest change first. What was tested and did not change stands in a table of
//! its own. Of what was not tested, or not decided, the largest ratios are shown and marked as that.

use crate::{
    compare::pairs::{Change, Pair},
    prelude::*,
};

/// Ratios that are shown of what was not tested.
const MOST_UNTESTED: usize = 10;

/// Adds what changed, what did not, and what nobody knows.
pub fn add(section: &mut Section, pairs: &[Pair]) {
    let of = |fits: fn(Change) -> bool| largest_first(pairs, fits);
    let changed = of(|change| matches!(change, Change::Better | Change::Worse));
    section.table(table("forest", "What changed, the largest first", &changed));
    let same = of(|change| change == Change::NotFound);
    let title = format!("No change found in {}", counted(same.len(), "figure"));
    section.table(Table { is_detail: true, ..table("unchanged", &title, &same) });
    for (id, change, what) in
        [("undecided", Change::Disturbed, "not decided"), ("untested", Change::Untested, "not tested")]
    {
        let mut unknown = largest_first(pairs, |_| true);
        unknown.retain(|pair| pair.change == change);
        let all = unknown.len();
        unknown.truncate(MOST_UNTESTED);
        let title = match (all, unknown.len()) {
            (all, shown) if all > shown => format!("The {shown} largest of {all} ratios, {what}"),
            _ => format!("Ratios, {what}"),
        };
        section.table(table(id, &title, &unknown));
    }
}

/// Those that fit and have a ratio, by how far it is from 1.
fn largest_first(pairs: &[Pair], fits: impl Fn(Change) -> bool) -> Vec<&Pair> {
    let far = |pair: &Pair| pair.compared.map_or(0.0, |compared| compared.ratio.ln().abs());
    pairs
        .iter()
        .filter(|pair| fits(pair.change) && pair.compared.is_some())
        .sorted_by(|one, other| far(other).total_cmp(&far(one)))
        .collect()
}

fn table(id: &str, title: &str, pairs: &[&Pair]) -> Table {
    let rows = pairs
        .iter()
        .map(|pair| row![&pair.figure.implementation, &pair.figure.name, ratio(pair), words(pair)]);
    let drawing = Some(Drawing { shape: Shape::Forest, logarithmic: true });
    Table { drawing, ..Table::new(id, title, "implementation; figure | second / first; change").with(rows) }
}

/// What became of a figure; where no change was found, how large one would have been.
pub fn words(pair: &Pair) -> String {
    match (pair.change, pair.detectable) {
        (Change::NotFound, Some(detectable)) => unseen(detectable),
        _ => pair.change.text().to_owned(),
    }
}

/// No change was found, and how large one would have been.
pub fn unseen(detectable: f64) -> String {
    let text = Change::NotFound.text();
    if is_blind(detectable) {
        return format!("{text}; so few repetitions hardly show one");
    }
    let percent = significant(detectable * 100.0, 2);
    format!("{text}; would have seen one over {percent} %")
}

/// Whether a comparison sees next to nothing: a change has to be a hundredfold. Three repetitions and many figures come to that.
pub fn is_blind(detectable: f64) -> bool {
    detectable >= 99.0
}

/// The ratio of a figure, with its interval where it was tested.
pub fn ratio(pair: &Pair) -> Cell {
    let Some(compared) = pair.compared else {
        return Cell::missing("a value is 0, which has no ratio");
    };
    number(compared.ratio, compared.tested.map_or(Spread::None, |tested| Spread::Range(tested.interval)))
}

#[cfg(test)]
mod tests {
    use super::unseen;

    /// It printed a percentage of 121 digits where three repetitions and 604 figures see next to nothing.
    #[test]
    fn what_would_hardly_be_seen_is_no_percentage() {
        assert_eq!(unseen(0.042), "no change found; would have seen one over 4.2 %");
        assert_eq!(unseen(2.4e119), "no change found; so few repetitions hardly show one");
    }
}
