//! How far the ranking hangs on the weights and on who is compared.

use super::answer::{change_text, side_text};
use super::cells::{points, rank};
use crate::field::Field;
use crate::ranking::{Ranked, Ranking};
use crate::tables::{Cell, Column, Digits, Number, Section, Spread, Table};
use sensormark_data::number::fixed;
use sensormark_result::score::{Board, Standing};
use sensormark_result::statistics::{self, Basis, Better, ranks};

/// The section; empty with fewer than two to compare.
pub fn section(_field: &Field, ranking: &Ranking) -> Section {
    let mut section = Section::new("sensitivity", "Sensitivity to the weights");
    let (Some(board), [_, _, ..]) = (&ranking.board, ranking.ranked.as_slice()) else {
        return section;
    };
    section.list(sentences(board, ranking));
    section.table(weights(board));
    section.table(by_criterion(board, ranking));
    let (summary, detail) = left_out(board);
    section.table(summary);
    section.table(detail);
    section
}

fn sentences(board: &Board, ranking: &Ranking) -> Vec<String> {
    let mut winners: Vec<&Ranked> = ranking.ranked.iter().filter(|one| one.win_share >= 0.0005).collect();
    winners.sort_by(|one, other| other.win_share.total_cmp(&one.win_share));
    let shares: Vec<String> =
        winners.iter().map(|one| format!("{} {} %", one.label(), fixed(one.win_share * 100.0, 1))).collect();
    let change = match board.smallest_change() {
        Some(change) => format!(
            "The smallest change of one weight that changes the winner: {}.",
            change_text(board, &change)
        ),
        None => "No change of one weight alone changes the winner.".to_owned(),
    };
    vec![
        format!("Share of all possible weights (evenly drawn) for which each wins: {}.", shares.join(", ")),
        change,
    ]
}

/// The weights that the scores were made with.
fn weights(board: &Board) -> Table {
    let mut table = Table::new("weights", "Weights used", &["criterion", "unit", "writing", "reading"]);
    let mut ids: Vec<(&str, &str, &str)> = Vec::new();
    for column in board.tables().iter().flat_map(|table| &table.columns) {
        if !ids.iter().any(|(id, _, _)| *id == column.id) {
            ids.push((&column.id, &column.name, &column.unit));
        }
    }
    for (id, name, unit) in ids {
        let weight = |phase: &str| {
            let tables = board.tables().iter().filter(|table| table.phase == phase);
            let mut columns = tables.flat_map(|table| &table.columns);
            let value = columns.find(|column| column.id == id)?.weight;
            Some(Number { value, spread: Spread::None, digits: Digits::Exact })
        };
        let weight =
            |phase: &str| weight(phase).map_or_else(|| Cell::Missing("not weighed".to_owned()), Cell::Number);
        table.row(vec![Cell::text(name), Cell::text(unit), weight("write"), weight("read")]);
    }
    table
}

/// Ranks by each criterion alone: by significance where there are repetitions, else bare order.
fn by_criterion(board: &Board, ranking: &Ranking) -> Table {
    let mut table = Table::new("ranks_by_criterion", "Ranks by each criterion alone", &["implementation"]);
    let mut ranks_of: Vec<Vec<Option<usize>>> = Vec::new();
    let mut bare = Vec::new();
    for (phase, scored) in board.tables().iter().enumerate() {
        for (column, criterion) in scored.columns.iter().enumerate().filter(|(_, column)| column.in_sum) {
            let name = format!("{} ({})", criterion.name, side_text(&scored.phase));
            let (places, is_tested) = criterion_ranks(board, ranking, phase, column);
            if !is_tested && ranking.basis == Basis::Significance {
                bare.push(name.clone());
            }
            table.columns.push(Column { name, unit: String::new() });
            ranks_of.push(places);
        }
    }
    for (place, one) in ranking.ranked.iter().enumerate() {
        let mut row = vec![Cell::text(one.label())];
        row.extend(ranks_of.iter().map(|ranks| rank(ranks[place])));
        table.row(row);
    }
    if !bare.is_empty() {
        table.note(format!(
            "Bare order, not tested, where some value is 0 and has no logarithm: {}.",
            bare.join(", ")
        ));
    }
    table
}

/// Ranks of the ranked by one column of one phase, and whether they were tested.
fn criterion_ranks(
    board: &Board,
    ranking: &Ranking,
    phase: usize,
    column: usize,
) -> (Vec<Option<usize>>, bool) {
    let arms: Vec<statistics::Arm> = ranking
        .ranked
        .iter()
        .map(|one| statistics::Arm {
            name: one.label().to_owned(),
            blocks: one.costs.iter().map(|costs| costs.as_ref().map(|costs| costs[phase][column])).collect(),
        })
        .collect();
    match ranks(&arms, Better::Lower) {
        Ok(found) if found.basis == Basis::Significance => {
            (found.ranks.into_iter().map(|rank| rank.rank).collect(), true)
        }
        _ => {
            let names = board.names();
            let id = &board.tables()[phase].columns[column].id;
            let all = board.ranks_by_criterion();
            let bare =
                all.iter().find(|ranks| ranks.phase == board.tables()[phase].phase && ranks.criterion == *id);
            let of = |one: &Ranked| {
                let place = names.iter().position(|name| *name == one.label())?;
                bare.map(|bare| bare.ranks[place])
            };
            (ranking.ranked.iter().map(of).collect(), false)
        }
    }
}

/// Who would win, and who would change places, without each contestant in turn; and all those ranks.
fn left_out(board: &Board) -> (Table, Table) {
    let mut summary = Table::new(
        "left_out",
        "With each one left out (its largest values scale the others no more)",
        &["left out", "first then", "score", "pairs that change places"],
    );
    let mut detail = Table::new(
        "left_out_ranks",
        "Scores and ranks with each one left out",
        &["left out", "implementation", "score", "rank"],
    );
    detail.keys = 2;
    detail.is_detail = true;
    let before = board.standings();
    let winner = |standings: &[Standing]| -> Vec<String> {
        let first = standings.iter().filter(|one| one.rank == 1);
        first.map(|one| one.name.clone()).collect()
    };
    let mut unmoved = 0;
    for out in board.leave_one_out() {
        for one in &out.standings {
            let own = rank(Some(one.rank));
            let score = points(one.total, Spread::None);
            detail.row(vec![Cell::text(&out.name), Cell::text(&one.name), score, own]);
        }
        let changed = changed_places(&before, &out.standings);
        let first = winner(&out.standings);
        if changed == 0 && first == winner(&before) {
            unmoved += 1;
            continue;
        }
        let score = out.standings.iter().find(|one| one.rank == 1);
        let score = score.map(|one| points(one.total, Spread::None));
        summary.row(vec![
            Cell::text(&out.name),
            Cell::text(first.join(", ")),
            score.unwrap_or_else(|| Cell::Missing("nobody is left".to_owned())),
            Cell::count(u64::try_from(changed).ok(), ""),
        ]);
    }
    if unmoved > 0 {
        summary.note(format!(
            "Leaving out any one of the {unmoved} others changes neither the winner nor anybody's place."
        ));
    }
    (summary, detail)
}

/// How many pairs stand otherwise to each other than before.
fn changed_places(before: &[Standing], after: &[Standing]) -> usize {
    let rank_before = |of: &Standing| before.iter().find(|one| one.name == of.name).map(|one| one.rank);
    let pairs = after.iter().enumerate().flat_map(|(place, one)| {
        let others = after.get(place + 1..).unwrap_or_default();
        others.iter().map(move |other| (one, other))
    });
    let is_changed = |(one, other): &(&Standing, &Standing)| {
        rank_before(one).cmp(&rank_before(other)) != one.rank.cmp(&other.rank)
    };
    pairs.filter(is_changed).count()
}
