//! The answer in one sentence, and the ranking behind it.

use super::cells::{counted, listed, points, rank};
use crate::field::{Arm, Field};
use crate::keeping_up;
use crate::ranking::{POINTS_BY_CHANCE, Ranked, Ranking};
use crate::tables::{Cell, Column, Section, Spread, Table};
use sensormark_data::number::fixed;
use sensormark_result::measurement::Cache;
use sensormark_result::score::{Board, WeightChange};
use sensormark_result::statistics::{Basis, SMALLEST_REPETITIONS};
use sensormark_store::{Durability, WriteMethod};

/// The answer.
pub fn answer(field: &Field, ranking: &Ranking) -> Section {
    let mut section = Section::new("answer", "Answer");
    let requirements = ranking.requirements.as_ref();
    let mut text = match (&ranking.board, ranking.ranked.as_slice(), requirements) {
        (_, [_, ..], Some(requirements)) => requirements.sentences().join(" "),
        (Some(board), [first, second, ..], _) => verdict_of(ranking, board, first, second),
        (_, [one], _) => format!(
            "For this load, on this machine: {} is the only one that can be ranked, so there is nothing to compare it with.",
            one.label()
        ),
        _ => "For this load, on this machine: nothing can be ranked; the reasons are below.".to_owned(),
    };
    for one in ranking.first() {
        let shortfalls = keeping_up::shortfalls(field, arm(field, one));
        if !shortfalls.is_empty() {
            text.push_str(&format!(
                " But {} did not keep up ({}), which flatters its score.",
                one.label(),
                shortfalls.join(", ")
            ));
        }
    }
    let missing = ranking.unranked.len();
    if missing > 0 && !ranking.ranked.is_empty() {
        text.push_str(&format!(
            " {} not ranked.",
            if missing == 1 {
                "1 implementation is".to_owned()
            } else {
                format!("{missing} implementations are")
            }
        ));
    }
    if !ranking.ranked.is_empty() && ranking.basis == Basis::SingleTrial {
        text.push_str(&format!(
            " {}: do not rely on the order. Between two quick runs that were alike, a place moved by {POINTS_BY_CHANCE} points. At least {SMALLEST_REPETITIONS} repetitions (--set repetitions=5) say what chance does.",
            single(field.blocks.len())
        ));
    }
    section.paragraph(text);
    section
}

/// Who leads, by how much, and what would change it.
fn verdict_of(ranking: &Ranking, board: &Board, leader: &Ranked, second: &Ranked) -> String {
    let first = ranking.first();
    let tied = first.len() > 1;
    let score = fixed(leader.standing.total, 1);
    let mut text = if tied {
        let names: Vec<&str> = first.iter().map(|one| one.label()).collect();
        let why = if ranking.basis == Basis::Significance {
            "lead and cannot be told apart (95 %)"
        } else {
            "lead with the same score"
        };
        format!(
            "For this load, on this machine: {} {why}; {} has the highest score, {score}",
            listed(&names),
            leader.label(),
        )
    } else {
        format!(
            "For this load, on this machine: {} (score {score} of 100, {} ahead of {})",
            leader.label(),
            fixed(leader.standing.total - second.standing.total, 1),
            second.label()
        )
    };
    match board.smallest_change() {
        Some(change) => text.push_str(&format!(", unless {}.", change_text(board, &change))),
        None if tied => text.push('.'),
        None => text.push_str("; no change of one weight alone would alter that."),
    }
    text.push_str(&shares(ranking, leader));
    text
}

fn arm<'a>(field: &'a Field, one: &Ranked) -> &'a Arm {
    &field.contestants()[one.read]
}

/// What there is of repetitions where they are too few.
fn single(repetitions: usize) -> String {
    match repetitions {
        1 => "This is a single trial of each".to_owned(),
        few => format!("These are {few} trials of each"),
    }
}

/// For what share of all possible weights the winner wins, and who wins for more.
fn shares(ranking: &Ranking, winner: &Ranked) -> String {
    let percent = |one: &Ranked| fixed(one.win_share * 100.0, 0);
    let most = ranking
        .ranked
        .iter()
        .max_by(|one, other| one.win_share.total_cmp(&other.win_share))
        .filter(|most| most.win_share > winner.win_share);
    match most {
        Some(most) => format!(
            " {} wins for {} % of all possible weights; {} wins for more, {} %.",
            winner.label(),
            percent(winner),
            most.label(),
            percent(most)
        ),
        None => format!(
            " {} wins for {} % of all possible weights, more than any other.",
            winner.label(),
            percent(winner)
        ),
    }
}

/// What of one weight makes another the winner: "you weigh server CPU in writing over 5.3 instead of 3: then B".
pub fn change_text(board: &Board, change: &WeightChange) -> String {
    let columns =
        board.tables().iter().filter(|table| table.phase == change.phase).flat_map(|table| &table.columns);
    let name = columns
        .into_iter()
        .find(|column| column.id == change.criterion)
        .map_or(change.criterion.as_str(), |column| column.name.as_str());
    let direction = if change.to > change.from { "over" } else { "under" };
    format!(
        "you weigh {name} in {} {direction} {} instead of {}: then {}",
        side_text(&change.phase),
        fixed(change.to, 2),
        plain(change.from),
        change.challenger
    )
}

/// A weight as people write it: 3, 0.5.
fn plain(value: f64) -> String {
    value.to_string()
}

/// A phase in words.
pub fn side_text(phase: &str) -> &str {
    match phase {
        "write" => "writing",
        "read" => "reading",
        other => other,
    }
}

/// The ranking.
pub fn ranking(field: &Field, ranking: &Ranking) -> Section {
    let mut section = Section::new("ranking", "Ranking");
    let mut table = Table::new(
        "ranking",
        "Score of the study: 100 is best, and 0 the costliest in everything",
        &["rank", "implementation", "score", "writing", "reading", "wins [%]", "keeps up", "repetitions"],
    );
    table.keys = 2;
    if ranking.requirements.is_some() {
        let after = table.columns.len() - 1;
        table.columns.insert(after, Column { name: "requirements".to_owned(), unit: String::new() });
    }
    for one in &ranking.ranked {
        let mut row = vec![rank(Some(one.rank)), Cell::text(one.label()), score(one)];
        row.extend(["write", "read"].map(|side| side_score(ranking, one, side)));
        row.push(points(one.win_share * 100.0, Spread::None));
        row.push(keeping_up::cell(field, arm(field, one)));
        row.extend(requirements_met(ranking, one));
        row.push(Cell::count(u64::try_from(one.summary.count).ok(), ""));
        table.row(row);
    }
    // A column that says the same of all is a sentence.
    if ranking.ranked.iter().all(|one| one.summary.count == field.blocks.len()) {
        table.columns.pop();
        table.rows.iter_mut().for_each(|row| drop(row.pop()));
    }
    for note in notes(field, ranking) {
        table.note(note);
    }
    section.table(table);
    let mut unranked = Table::new("not_ranked", "Not ranked", &["implementation", "reason"]);
    for (label, reason) in &ranking.unranked {
        unranked.row(vec![Cell::text(label), Cell::text(reason)]);
    }
    section.table(unranked);
    section
}

/// Whether it meets what has to hold, where something has.
fn requirements_met(ranking: &Ranking, one: &Ranked) -> Option<Cell> {
    let requirements = ranking.requirements.as_ref()?;
    let answer = requirements.of_layout(one.label());
    let mark = answer.map_or("", |answer| answer.outcome.mark());
    Some(Cell::text(mark))
}

/// The score of one side, where that was measured.
fn side_score(ranking: &Ranking, one: &Ranked, side: &str) -> Cell {
    let tables = ranking.board.iter().flat_map(Board::tables);
    let mut scores = tables.zip(&one.standing.phases);
    let own = scores.find(|(table, _)| table.phase == side);
    own.map_or_else(
        || Cell::Missing("nothing of it can be compared".to_owned()),
        |(_, score)| points(*score, Spread::None),
    )
}

fn score(one: &Ranked) -> Cell {
    let spread = one.summary.interval.map_or(Spread::None, Spread::Plus);
    points(one.standing.total, spread)
}

/// What a reader of the ranking has to know.
fn notes(field: &Field, ranking: &Ranking) -> Vec<String> {
    let mut notes = Vec::new();
    if ranking.basis == Basis::Significance {
        notes.push("Rows stand in the order of their scores. rank = 1 + the number of rows above that are significantly better (paired by repetition, Holm-corrected, 5 %), and never lower than the rank above. ± is the 95 % interval over repetitions.".to_owned());
    } else if !ranking.ranked.is_empty() {
        notes.push(format!("single trial: {}, so no intervals and no shared ranks; --set repetitions=5 or --scale standard gives them.", counted(field.blocks.len(), "repetition")));
    }
    if ranking.requirements.is_some() && !ranking.ranked.is_empty() {
        notes.push("Whoever meets the requirements (✓) stands before whoever leaves one open (?), and that before whoever misses one (✗). Scores, weights and shares of weights are of cost alone.".to_owned());
    }
    if ranking.ranked.len() == 1 {
        notes.push(
            "One implementation alone is the costliest in everything, which is a score of 0 by the formula."
                .to_owned(),
        );
    }
    let partly: Vec<&str> = ranking
        .ranked
        .iter()
        .filter(|one| one.summary.count < field.blocks.len())
        .map(Ranked::label)
        .collect();
    if !partly.is_empty() {
        notes.push(format!(
            "of {} not every repetition is valid: the valid ones are ranked.",
            listed(&partly)
        ));
    }
    if !ranking.ranked.is_empty() {
        notes.push("wins: share of all possible weights for which it has the highest score.".to_owned());
    }
    if field.has_phases() && !ranking.ranked.is_empty() {
        notes.push("Phases run as fast as each database lets them. So the score is of what a thousand written readings and a question cost: time (geometric mean over the side's phases) and resources. It has the study's formula and weights, and time has the weight of all CPU.".to_owned());
    }
    notes.extend(behind_note(field, ranking));
    notes.extend(durability_note(field, ranking));
    notes.extend(cache_note(field));
    let datagrams: Vec<&str> = ranked_with(field, ranking, |write| write == WriteMethod::Datagram);
    if !datagrams.is_empty() {
        notes.push(format!("unlike the others, nobody acknowledges what {} wrote: datagrams. What got lost is in the readings.", listed(&datagrams)));
    }
    notes.extend(ranking.notes.iter().cloned());
    notes
}

/// Says whose scores are flattered.
fn behind_note(field: &Field, ranking: &Ranking) -> Option<String> {
    let behind: Vec<&str> = ranking
        .ranked
        .iter()
        .filter(|one| !keeping_up::shortfalls(field, arm(field, one)).is_empty())
        .map(Ranked::label)
        .collect();
    (!behind.is_empty()).then(|| {
        format!(
            "{} did not keep up with the load. What was not written or read cost nothing, so the formula flatters them: weigh the column \"keeps up\" first.",
            listed(&behind)
        )
    })
}

fn ranked_with<'a>(field: &Field, ranking: &'a Ranking, is: impl Fn(WriteMethod) -> bool) -> Vec<&'a str> {
    let found =
        ranking.ranked.iter().filter(|one| is(field.contestants()[one.read].implementation.layout.write));
    found.map(Ranked::label).collect()
}

/// Says what cold is.
fn cache_note(field: &Field) -> Option<String> {
    let mut contestants = field.contestants().iter();
    let is_cold = contestants.any(|arm| arm.implementation.cache == Cache::Cold);
    is_cold.then(|| "cold: before each phase that only reads, the database was started again, its files dropped from the page cache before that; warm-up reads were left out.".to_owned())
}

/// Says when unlike classes are compared, and that "default" is each database's own.
fn durability_note(field: &Field, ranking: &Ranking) -> Option<String> {
    let mut classes: Vec<Durability> =
        ranking.ranked.iter().map(|one| field.contestants()[one.read].implementation.durability).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut stores: Vec<&str> = ranking
        .ranked
        .iter()
        .map(|one| field.contestants()[one.read].implementation.store.as_str())
        .collect();
    stores.sort_unstable();
    stores.dedup();
    match classes.as_slice() {
        [] => None,
        [Durability::Default] if stores.len() > 1 => {
            Some("durability class default: each database as it comes, and what an acknowledgement promises then differs between them.".to_owned())
        }
        [one] => Some(format!("durability class: {}.", one.text())),
        several => {
            let names: Vec<&str> = several.iter().map(|class| class.text()).collect();
            Some(format!("unlike durability classes are compared: {}.", listed(&names)))
        }
    }
}
