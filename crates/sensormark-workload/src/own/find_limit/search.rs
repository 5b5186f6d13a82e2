//! Which rate, or number of people, is tried next, and when the search is over. It knows numbers alone, not trials.

use super::raised::Sought;

/// The search ends when the rates that held and did not are this close.
const CLOSE: f64 = 1.1;
/// It ends too when a rate so many times below the first one did not hold.
const LOWEST: f64 = 1_000.0;

/// The search for the highest rate that holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// Rates are of any size, people are whole.
    pub sought: Sought,
    /// The first rate.
    pub first: f64,
    /// The highest that held.
    pub held: Option<f64>,
    /// The lowest that did not.
    pub missed: Option<f64>,
    /// Whether a limit is missed that no rate would hold.
    pub is_hopeless: bool,
}

impl Search {
    /// A search from this rate or number.
    pub const fn new(sought: Sought, first: f64) -> Self {
        Self { sought, first, held: None, missed: None, is_hopeless: false }
    }

    /// The rate to be tried next.
    pub fn next(&self) -> f64 {
        let next = match (self.held, self.missed) {
            (None, None) => self.first,
            (Some(held), None) => held * 4.0,
            (None, Some(missed)) => missed / 4.0,
            (Some(held), Some(missed)) => (held * missed).sqrt(),
        };
        if self.sought == Sought::Users { next.round().max(1.0) } else { next }
    }

    /// A rate was measured, and held or did not.
    pub fn learn(&mut self, rate: f64, held: bool) {
        if held {
            self.held = Some(self.held.map_or(rate, |before| before.max(rate)));
        } else {
            self.missed = Some(self.missed.map_or(rate, |before| before.min(rate)));
        }
    }

    /// What was found, in words.
    pub fn words(&self, probes: usize) -> String {
        let (counted, one) = (self.sought.counted(), self.sought.one());
        match (self.held, self.missed) {
            (Some(held), Some(missed)) => {
                format!("{held:.0} {counted} held, {missed:.0} did not ({probes} probes)")
            }
            (Some(held), None) => {
                format!("{held:.0} {counted} held, and no more was tried ({probes} probes)")
            }
            (None, _) if self.is_hopeless => format!("no {one} can hold: the disk does not depend on it"),
            (None, _) => format!("none of {probes} {one}s held"),
        }
    }

    /// Whether nothing more is to be tried.
    pub fn is_over(&self) -> bool {
        let apart = if self.sought == Sought::Users { 1.0 } else { 0.0 };
        match (self.held, self.missed) {
            (Some(held), Some(missed)) => missed <= (held * CLOSE).max(held + apart),
            (None, Some(missed)) => self.is_hopeless || missed < self.first / LOWEST || missed <= apart,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::find_limit::probes::MOST_PROBES;

    /// The highest rate that held and the number of probes, where all up to `most` hold.
    fn found(first: f64, most: f64) -> (f64, usize) {
        let mut search = Search::new(Sought::Rate, first);
        let mut probes = 0;
        while !search.is_over() && probes < MOST_PROBES {
            let rate = search.next();
            search.learn(rate, rate <= most);
            probes += 1;
        }
        (search.held.unwrap_or(0.0), probes)
    }

    #[test]
    fn the_highest_rate_is_found_from_below_and_from_above() {
        for (first, most) in [(100.0, 5_000.0), (100.0, 100.0), (100_000.0, 5_000.0), (400.0, 401.0)] {
            let (held, probes) = found(first, most);
            assert!(held <= most && held * CLOSE >= most, "{first}: {held} of {most}");
            assert!(probes <= MOST_PROBES, "{first}: {probes}");
        }
        assert_eq!(found(100.0, 0.0), (0.0, 6));
    }

    #[test]
    fn what_no_rate_can_hold_ends_the_search() {
        let mut search = Search::new(Sought::Rate, 100.0);
        search.learn(100.0, false);
        assert!(!search.is_over());
        search.is_hopeless = true;
        assert!(search.is_over());
        assert_eq!(search.words(1), "no rate can hold: the disk does not depend on it");
    }

    #[test]
    fn people_are_whole_and_the_last_one_is_found() {
        for (first, most) in [(50.0, 7.0), (5.0, 1.0), (5.0, 0.0), (1.0, 3.0), (40.0, 1_000.0)] {
            let mut search = Search::new(Sought::Users, first);
            while !search.is_over() {
                let people = search.next();
                assert_eq!(people.fract(), 0.0, "{first}, {most}");
                search.learn(people, people <= most);
            }
            let held = search.held.unwrap_or(0.0);
            assert!(held <= most && (held * CLOSE).max(held + 1.0) >= most, "{first}: {held} of {most}");
        }
        let mut search = Search::new(Sought::Users, 1.0);
        search.learn(1.0, true);
        search.learn(2.0, false);
        assert!(search.is_over());
        assert_eq!(search.words(2), "1 people who watch held, 2 did not (2 probes)");
    }
}
