//! The study's bars, drawn again: each criterion of writing and of reading, and the scores.

use super::counterparts::Counterparts;
use super::published::{READ, WRITTEN};
use crate::measurement::record::Side;
use crate::report::redrawn::{self, Figure, valid};
use crate::report::sections::cells::{mean, points};
use crate::report::tables::{Section, Spread};

const NOT_MEASURED: &str = "not measured";

/// The section.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let study = counterparts.study;
    let mut figures = scores(counterparts);
    for (id, name, unit, published) in WRITTEN {
        let rows = study.write.iter();
        let printed = rows.map(|row| (row.implementation.as_str(), published(row)));
        figures.push(criterion(
            counterparts,
            Side::Write,
            (id, name, unit),
            printed,
        ));
    }
    for (id, name, unit, published) in READ {
        let rows = study.read.iter();
        let printed = rows.map(|row| (row.implementation.as_str(), published(row)));
        figures.push(criterion(
            counterparts,
            Side::Read,
            (id, name, unit),
            printed,
        ));
    }
    redrawn::section(figures)
}

/// The bars of a criterion (identifier, name, unit) of one side.
fn criterion<'a>(
    counterparts: &Counterparts<'a>,
    side: Side,
    (id, name, unit): (&str, &str, &str),
    printed: impl Iterator<Item = (&'a str, f64)>,
) -> Figure {
    let field = counterparts.field;
    let (prefix, title, arms) = match side {
        Side::Read => ("read", "Reading", &field.reads),
        _ => ("write", "Writing", &field.writes),
    };
    let counterpart = |name: &str| match side {
        Side::Read => counterparts.read(name),
        _ => counterparts.write(name),
    };
    let (id_here, title) = (format!("{prefix}_{id}"), format!("{title}: {name}"));
    Figure::bars(&id_here, &title, (name, unit)).beside(
        valid(field, arms),
        |arm| mean(&counterparts.values(arm, id), NOT_MEASURED),
        printed.map(|(name, value)| (name, counterpart(name), value)),
    )
}

/// Scores of the study's implementations among themselves; none where fewer than two of them were measured.
fn scores(counterparts: &Counterparts<'_>) -> Vec<Figure> {
    let ranked = counterparts
        .ranking
        .iter()
        .flat_map(|ranking| &ranking.ranked);
    let ranked: Vec<_> = ranked.collect();
    let sides = ["Score in total", "Score in writing", "Score in reading"];
    let figures = sides.into_iter().enumerate().map(|(side, title)| {
        let mut figure = Figure::bars(&format!("score_{side}"), title, ("score", "of 100"));
        for row in &counterparts.study.score {
            let name = row.implementation.as_str();
            let arm = counterparts.read(name);
            let own = ranked
                .iter()
                .find(|one| arm.is_some_and(|arm| one.label() == arm.label));
            if let Some(one) = own {
                let score = match side {
                    0 => one.standing.total,
                    side => one.standing.phases[side - 1],
                };
                figure.here(name, None, points(score, Spread::None));
            }
            let printed = [row.total, row.write, row.read][side];
            figure.published(name, "", None, f64::from(printed));
        }
        figure
            .note("Among the study's implementations alone, for scores depend on who is compared.")
    });
    if ranked.len() < 2 {
        Vec::new()
    } else {
        figures.collect()
    }
}
