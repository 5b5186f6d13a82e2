//! How far the rankings hang on the weights.

use crate::prelude::*;
use sensormark_result::cost::smallest_change;

/// The section; empty where no ranking has two to compare.
pub fn section(ranking: &Ranking) -> Section {
    let mut section = Section::new("sensitivity", "Sensitivity to the weights");
    let several = ranking.groups().filter(|group| group.len() > 1);
    section.list(several.flat_map(|group| sentences(ranking, group)).collect());
    if !section.blocks.is_empty() {
        section.table(weights(ranking));
    }
    section
}

fn sentences(ranking: &Ranking, group: &[Ranked]) -> [String; 2] {
    let shares = group
        .iter()
        .filter(|one| one.win_share >= 0.0005)
        .sorted_by(|one, other| other.win_share.total_cmp(&one.win_share))
        .map(|one| format!("{} {} %", one.label, fixed(one.win_share * 100.0, 1)))
        .join(", ");
    let name = group[0].group.title();
    let change = change(ranking, group)
        .unwrap_or_else(|| "No change of one weight alone changes who costs least.".to_owned());
    [
        format!(
            "{name}: who costs least, by the share of all possible weights (evenly drawn; this is no probability): {shares}."
        ),
        format!("{name}: {change}"),
    ]
}

/// The smallest change of one weight that makes another of those that lead cost least.
fn change(ranking: &Ranking, group: &[Ranked]) -> Option<String> {
    let alike = group.iter().filter(|one| one.meets == group[0].meets).collect_vec();
    let values = alike.iter().map(|one| one.values.clone()).collect_vec();
    let change = smallest_change(&values, &ranking.weights())?;
    let (criterion, from) = &ranking.criteria[change.criterion];
    let direction = if change.to > *from { "over" } else { "under" };
    Some(format!(
        "{} costs least if you weigh {} {direction} {} instead of {from}.",
        alike[change.challenger].label,
        criterion.name,
        fixed(change.to, 2),
    ))
}

/// The weights that the costs were made with.
fn weights(ranking: &Ranking) -> Table {
    let mut table = Table::new("weights", "Weights used", "criterion; unit; weight; floor");
    for (criterion, weight) in &ranking.criteria {
        let floor = number(criterion.floor, Spread::None);
        table.row(row![criterion.name, criterion.unit, exact(*weight), floor]);
    }
    table.note("What nobody pays decides nothing: less than the floor counts as the floor.");
    table.note("A file for --weights has a number for each criterion that does not count once, by the names of summary.criteria in --format json.");
    table
}
