//! The answer in a few sentences, and the rankings behind it.

use crate::{contest::no_probe, prelude::*, summary::headline};
use sensormark_result::measurement::Cache;

/// The answer.
pub fn answer(field: &Field, ranking: &Ranking) -> Section {
    let mut section = Section::new("answer", "Answer");
    section.paragraph(headline(field, ranking).join(" "));
    section
}

/// So many times the lowest.
fn times(value: f64, spread: Spread) -> Cell {
    Cell::Number(Number { value, spread, digits: Digits::Significant(2) })
}

/// The rankings.
pub fn ranking(field: &Field, ranking: &Ranking) -> Section {
    let mut section = Section::new("ranking", "Ranking");
    for group in ranking.groups() {
        section.table(group_table(field, ranking, group));
    }
    for note in notes(field, ranking) {
        section.paragraph(note);
    }
    for group in ranking.groups().filter(|group| group.len() > 1) {
        section.table(ratios(ranking, group));
    }
    section.table(costs(field, ranking));
    let unranked = ranking.unranked.iter().map(|(label, reason)| row![label, reason]);
    section.table(Table::new("not_ranked", "Not ranked", "implementation; reason").with(unranked));
    section
}

/// The name of a ranking with the classes of durability of those who promise less.
fn title(field: &Field, group: &[Ranked]) -> String {
    let name = group[0].group;
    if name.promises_most() {
        name.title().to_owned()
    } else {
        format!("{}: {}", name.title(), listed(classes(field, group)))
    }
}

fn group_table(field: &Field, ranking: &Ranking, group: &[Ranked]) -> Table {
    let id = format!("ranking_{}", group[0].group.id());
    let mut table =
        Table::new(&id, &title(field, group), "rank; implementation | cost [× the lowest]; keeps up");
    table.columns.extend(ranking.requirements.as_ref().map(|_| "requirements".into()));
    // A column that says the same of all is a sentence.
    let is_partly = group.iter().any(|one| one.repetitions() < field.blocks.len());
    table.columns.extend(is_partly.then(|| "repetitions".into()));
    for one in group {
        let cost = times(one.ratio, one.interval.map_or(Spread::None, Spread::Range));
        let mut row = row![rank(Some(one.rank)), &one.label, cost];
        row.push(keeping_up::cell(field, one.arm(field)));
        row.extend(ranking.requirements.as_ref().map(|requirements| {
            let answer = requirements.of_layout(&one.label);
            Cell::text(answer.map_or("", |answer| answer.outcome.mark()))
        }));
        row.extend(is_partly.then(|| Cell::count(u64::try_from(one.repetitions()).ok(), "")));
        table.row(row);
    }
    table
}

/// What each costs by each criterion, as a multiple of the lowest of its ranking.
fn ratios(ranking: &Ranking, group: &[Ranked]) -> Table {
    let id = format!("ratios_{}", group[0].group.id());
    let title = format!("{}: × the lowest by each criterion", group[0].group.title());
    let mut table = Table::new(&id, &title, "implementation");
    table.columns.extend(ranking.criteria.iter().map(|(criterion, _)| (criterion.name, "×").into()));
    table.with(group.iter().map(|one| {
        let ratios = one.ratios.iter().map(|ratio| times(*ratio, Spread::None));
        row![&one.label].into_iter().chain(ratios).collect()
    }))
}

/// The figures behind the ratios, of everybody with a valid trial.
fn costs(field: &Field, ranking: &Ranking) -> Table {
    let costs = Costs::of(field);
    let mut table = Table::new("costs", "What the ratios are of", "implementation");
    table.columns.extend(CRITERIA.iter().map(|criterion| (criterion.name, criterion.unit).into()));
    for arm in field.contestants() {
        let blocks = costs.blocks(field, arm);
        let cell = |criterion: &Criterion| {
            let mean = if criterion.id.ends_with("_time") { geometric_mean } else { mean };
            mean(
                &blocks.iter().map(|block| block.as_ref()?.values.get(criterion.id).copied()).collect_vec(),
                NOT_MEASURED,
            )
        };
        if blocks.iter().any(Option::is_some) {
            table.row(row![&arm.label].into_iter().chain(CRITERIA.iter().map(cell)).collect());
        }
    }
    table.note("CPU and memory are of both sides, memory (1,000,000 bytes a MB) the largest at the end of a phase. Time in closed loop is what a phase took over its work, in open loop the mean from due to finished. Kinds of questions count alike, as geometric means. Disk is the growth of the data folder until after settling, logs apart. The device and the wire are of the loads.");
    let unweighed = CRITERIA
        .iter()
        .filter(|one| !ranking.criteria.iter().any(|(known, _)| known.id == one.id))
        .map(|one| one.name)
        .collect_vec();
    if !ranking.ranked.is_empty() && !unweighed.is_empty() {
        let hints = field.contestants().iter().map(|arm| no_probe(field, arm));
        table.note(format!(
            "Not in the cost, because its weight is 0 or nobody has it{}: {}.",
            hints.max().unwrap_or_default(),
            listed(&unweighed)
        ));
    }
    table
}

/// What a reader of the ranking has to know.
fn notes(field: &Field, ranking: &Ranking) -> Vec<String> {
    let mut notes = vec![];
    let cost =
        "cost: the weighted geometric mean of all criteria, as a multiple of the lowest cost of the ranking";
    if ranking.basis == Basis::Significance {
        notes.push(format!("{cost}, with its 95 % interval over repetitions. Rank = 1 + the number of rows above that cost significantly less (paired by repetition, Holm-corrected, 5 %), and never lower than the rank above."));
    } else if !ranking.ranked.is_empty() {
        notes.push(format!("{cost}. Single trial: {}, so there are no intervals, and who differs by less than 10 % shares a rank; --set repetitions=5 or --scale firm tests it.", counted(field.blocks.len(), "repetition")));
    }
    if ranking.requirements.is_some() && !ranking.ranked.is_empty() {
        notes.push("Whoever meets the requirements (✓) stands before whoever leaves one open (?), and that before whoever misses one (✗). Costs, weights and shares of weights know nothing of requirements.".to_owned());
    }
    let behind =
        ranking.ranked.iter().filter(|one| !keeping_up::shortfalls(field, one.arm(field)).is_empty());
    let behind = behind.map(|one| &one.label).collect_vec();
    if !behind.is_empty() {
        notes.push(format!("{} did not keep up with the load. What was not written or read cost nothing, so its cost flatters them: weigh the column \"keeps up\" first.", listed(behind)));
    }
    notes.extend(durability_note(field, ranking));
    let is_cold = field.contestants().iter().any(|arm| arm.implementation.cache == Cache::Cold);
    notes.extend(is_cold.then(|| "cold: before each phase that only reads, the database was started again, its files dropped from the page cache before that; warm-up reads were left out.".to_owned()));
    notes.extend(ranking.notes.iter().cloned());
    notes
}

/// The classes of durability of these.
fn classes<'a>(field: &Field, ranked: impl IntoIterator<Item = &'a Ranked>) -> Vec<&'static str> {
    let of = |one: &Ranked| match one.arm(field).implementation.layout.write {
        WriteMethod::Datagram => Durability::Unacknowledged,
        _ => one.arm(field).implementation.durability,
    };
    ranked.into_iter().map(of).sorted().dedup().map(Durability::text).collect()
}

/// Says what an acknowledgement promises, and that "default" is each database's own.
fn durability_note(field: &Field, ranking: &Ranking) -> Option<String> {
    let most = ranking.ranked.iter().filter(|one| one.group.promises_most());
    match classes(field, most).as_slice() {
        [] => None,
        ["default"] => {
            Some("durability class default: each database as it comes, and what an acknowledgement promises then differs between them.".to_owned())
        }
        classes => Some(format!("durability class: {}.", listed(classes))),
    }
}
