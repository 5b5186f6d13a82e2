//! Claims about scores: they are of the study's own company alone, and compared by what they fall short of 100.

use super::claims::note_missing;
use super::counterparts::Counterparts;
use crate::report::claims::{Claim, Values, is_less};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::ranking::Ranked;
use crate::score::Board;

/// What an implementation of the study's came to here.
struct Standing<'a> {
    arm: &'a Arm,
    ranked: &'a Ranked,
    board: &'a Board,
}

fn standing<'a>(counterparts: &'a Counterparts<'_>, name: &str) -> Option<Standing<'a>> {
    let arm = counterparts.read(name)?;
    let ranking = counterparts.ranking.as_ref()?;
    let mut ranked = ranking.ranked.iter();
    Some(Standing {
        arm,
        ranked: ranked.find(|one| one.label() == arm.label)?,
        board: ranking.board.as_ref()?,
    })
}

/// Whether this implementation has the best score of the study's, in one phase or (`None`) in total.
pub fn best(
    counterparts: &Counterparts<'_>,
    text: &str,
    name: &str,
    phase: Option<usize>,
) -> Claim {
    let mut claim = Claim::new(text, "a better score than each other of the study's");
    let others = counterparts.study.score.iter();
    // What was written alike has one score for writing.
    let own_write = others.clone().find(|row| row.implementation == name);
    let own_write = own_write.map(|row| &row.write_implementation);
    let rivals: Vec<&str> = others
        .filter(|row| row.implementation != name)
        .filter(|row| phase != Some(0) || Some(&row.write_implementation) != own_write)
        .map(|row| row.implementation.as_str())
        .collect();
    against(&mut claim, counterparts, name, &rivals, phase);
    claim
}

/// Whether reading whole seconds and choosing in the client is worth nothing in InfluxDB: it has no better score than asking for what is wanted.
pub fn bulk_reading(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "bulk reading is not worthwhile in InfluxDB",
        "reading individually has a better score than bulk and bulk-1",
    );
    let rivals = ["InfluxDB bulk", "InfluxDB bulk-1"];
    against(
        &mut claim,
        counterparts,
        "InfluxDB individual",
        &rivals,
        Some(1),
    );
    claim
}

fn against(
    claim: &mut Claim,
    counterparts: &Counterparts<'_>,
    name: &str,
    rivals: &[&str],
    phase: Option<usize>,
) {
    let own = standing(counterparts, name);
    match &own {
        Some(own) => claim.about(own.arm),
        None => note_missing(claim, counterparts, name),
    }
    for rival in rivals {
        let Some(other) = standing(counterparts, rival) else {
            note_missing(claim, counterparts, rival);
            continue;
        };
        let Some(own) = &own else {
            continue;
        };
        claim.about(other.arm);
        claim.part(
            is_less(&own.shortfalls(phase), &other.shortfalls(phase)),
            format!(
                "{} {} against {} of {}",
                own.arm.label,
                own.score(phase),
                other.score(phase),
                other.arm.label
            ),
        );
    }
}

impl Standing<'_> {
    fn score(&self, phase: Option<usize>) -> String {
        let standing = &self.ranked.standing;
        significant(
            phase.map_or(standing.total, |phase| standing.phases[phase]),
            3,
        )
    }

    /// What a score falls short of 100, in each repetition.
    fn shortfalls(&self, phase: Option<usize>) -> Values {
        let shortfall = |costs: &Vec<Vec<f64>>| {
            let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
            let scores = self.board.scores_of(&costs);
            100.0
                - phase.map_or_else(
                    || scores.iter().sum::<f64>() / scores.len() as f64,
                    |phase| scores[phase],
                )
        };
        let costs = self.ranked.costs.iter();
        costs.map(|costs| costs.as_ref().map(shortfall)).collect()
    }
}
