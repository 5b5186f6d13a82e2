//! The figures that two runs have in common, and what became of each.

use super::{
    figures::{Figure, figures},
    origin,
};
use crate::prelude::*;
use sensormark_result::statistics::{compare_unpaired, holm};

/// What became of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Significantly better, by more than the threshold.
    Better,
    /// Significantly worse, by more than the threshold.
    Worse,
    /// Nothing was found: what would have been is among what was tested.
    NotFound,
    /// The host was disturbed in one of the runs, which was tolerated.
    Disturbed,
    /// Too few repetitions for a test.
    Untested,
}

impl Change {
    /// What it says in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotFound => "no change found",
            Self::Disturbed => "not decided: disturbed",
            Self::Untested => "not tested",
        }
    }

    /// Whether the figure was tested.
    pub fn is_tested(self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::NotFound)
    }
}

/// A figure of both runs.
#[derive(Debug, PartialEq)]
pub struct Pair {
    pub figure: Figure,
    pub second: Vec<f64>,
    pub compared: Option<RatioTest>,
    /// After Holm's correction.
    pub corrected_p: Option<f64>,
    /// The smallest change that would have been found: 0.1 is 10 %.
    pub detectable: Option<f64>,
    pub change: Change,
}

/// The figures that both runs have, tested.
pub fn pairs(first: &Field, second: &Field, threshold: f64) -> Vec<Pair> {
    let mut others = figures(second);
    let mut pairs: Vec<Pair> = vec![];
    for mut figure in figures(first) {
        let Some(place) = others.iter().position(|other| other.is_same(&figure)) else { continue };
        let second_figure = others.swap_remove(place);
        if figure.of_server && origin::unlike(first, second, &figure.implementation).is_some() {
            continue;
        }
        figure.disturbed |= second_figure.disturbed;
        let compared = compare_unpaired(&figure.values, &second_figure.values, threshold).ok();
        pairs.push(Pair::new(figure, second_figure.values, compared));
    }
    decide(&mut pairs);
    pairs
}

impl Pair {
    /// Not decided yet.
    pub fn new(figure: Figure, second: Vec<f64>, compared: Option<RatioTest>) -> Self {
        Self {
            change: match compared.and_then(|compared| compared.tested) {
                None => Change::Untested,
                Some(_) if figure.disturbed => Change::Disturbed,
                Some(_) => Change::NotFound,
            },
            figure,
            second,
            compared,
            corrected_p: None,
            detectable: None,
        }
    }
}

/// Corrects for how many figures are tested, and says which changed.
pub fn decide(pairs: &mut [Pair]) {
    let mut tested = pairs.iter_mut().filter(|pair| pair.change.is_tested()).collect_vec();
    let p_values = tested.iter().filter_map(|pair| p_value(pair)).collect_vec();
    let count = tested.len();
    for (pair, p) in tested.iter_mut().zip(holm(&p_values)) {
        pair.corrected_p = Some(p);
        if let Some(compared) = pair.compared {
            pair.detectable = compared.detectable(count);
            pair.change = change(compared.ratio, p, pair.figure.better);
        }
    }
}

fn p_value(pair: &Pair) -> Known {
    Some(pair.compared?.tested?.p_value)
}

fn change(ratio: f64, p: f64, better: Better) -> Change {
    let improved = (ratio < 1.0) == (better == Better::Lower);
    match (p < SIGNIFICANCE, improved) {
        (false, _) => Change::NotFound,
        (true, true) => Change::Better,
        (true, false) => Change::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_good_or_bad_by_its_direction() {
        assert_eq!(change(1.2, 0.001, Better::Lower), Change::Worse);
        assert_eq!(change(0.8, 0.001, Better::Lower), Change::Better);
        assert_eq!(change(1.2, 0.001, Better::Higher), Change::Better);
        assert_eq!(change(0.8, 0.001, Better::Higher), Change::Worse);
        assert_eq!(change(1.2, 0.2, Better::Lower), Change::NotFound);
    }
}
