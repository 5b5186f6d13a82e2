//! Series that end and begin. A table has so many *places*; in each, one series reports after the other. At equal distances in time the oldest series ends and a
//! new one begins in its place, which has the next number. So numbers ascend with the beginnings, and which series reports where in a tick is arithmetic.

use std::ops::Range;

/// A day in ns, times a million.
const DAY: u128 = 86_400_000_000_000 * 1_000_000;

/// How many series report at a time, and how often one ends.
#[derive(Debug, Clone, Copy)]
pub struct Churn {
    /// How many series report at a time.
    pub places: u32,
    /// This share of [`DAY`] has passed at a tick when one more series has begun than at the tick before; 0 where none ever does.
    of_a_tick: u128,
    /// After this tick none begins.
    last_tick: u64,
}

impl Churn {
    /// Of `places` series a share ends in a day, in millionths; none after so many ticks of an interval.
    pub fn new(places: u32, millionths_a_day: u64, interval_ns: i64, ticks: u64) -> Self {
        let of_a_tick =
            u128::from(interval_ns.unsigned_abs()) * u128::from(places) * u128::from(millionths_a_day);
        Self { places, of_a_tick, last_tick: ticks.saturating_sub(1) }
    }

    /// None ends.
    pub fn none(places: u32) -> Self {
        Self { places, of_a_tick: 0, last_tick: 0 }
    }

    /// How many have begun after the first ones, up to this tick.
    fn begun(&self, tick: u64) -> u64 {
        if self.of_a_tick == 0 {
            return 0;
        }
        let begun = u128::from(tick.min(self.last_tick)).saturating_mul(self.of_a_tick) / DAY;
        u64::try_from(begun).unwrap_or(u64::MAX)
    }

    /// How many series began before this tick. The largest tick gives all of them.
    pub fn series_before(&self, tick: u64) -> u64 {
        u64::from(self.places).saturating_add(self.begun(tick.saturating_sub(1)))
    }

    /// The series that reports from a place in a tick.
    pub fn series_at(&self, place: u32, tick: u64) -> u32 {
        if self.of_a_tick == 0 {
            return place;
        }
        let (places, place) = (u64::from(self.places), u64::from(place));
        let newest = self.series_before(tick.saturating_add(1)) - 1;
        u32::try_from(newest - (newest - place) % places).unwrap_or(u32::MAX)
    }

    /// The first tick of a series; none of one that never begins.
    fn begins(&self, series: u64) -> Option<u64> {
        let Some(number) = series.checked_sub(self.places.into()) else { return Some(0) };
        let tick = (u128::from(number + 1) * DAY).div_ceil(self.of_a_tick.max(1));
        u64::try_from(tick).ok().filter(|tick| self.of_a_tick > 0 && *tick <= self.last_tick)
    }

    /// The ticks in which a series reports.
    pub fn life(&self, series: u32) -> Range<u64> {
        let series = u64::from(series);
        let end = self.begins(series + u64::from(self.places)).unwrap_or(u64::MAX);
        self.begins(series).unwrap_or(end)..end
    }

    /// How many ticks a series lives at least, where any ends.
    pub fn shortest_life(&self) -> Option<u64> {
        let life = (u128::from(self.places) * DAY).checked_div(self.of_a_tick)?;
        Some(u64::try_from(life).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_NS: i64 = 60_000_000_000;
    const DAY_TICKS: u64 = 1_440;

    /// Three of ten places change in a day: 30 % of the series.
    #[test]
    fn a_share_of_the_series_ends_each_day_and_as_many_begin() {
        let churn = Churn::new(10, 300_000, MINUTE_NS, 4 * DAY_TICKS);
        for day in 0..4 {
            assert_eq!(churn.series_before(day * DAY_TICKS + 1), 10 + 3 * day);
        }
        assert_eq!(churn.shortest_life(), Some(DAY_TICKS * 10 / 3));
        assert_eq!((churn.life(0), churn.life(1)), (0..480, 0..960));
        assert_eq!(churn.life(10), 480..480 * 11);
        assert_eq!(Churn::none(10).life(9), 0..u64::MAX);
        assert_eq!(Churn::none(10).shortest_life(), None);
    }

    /// Each place has one series in each tick, which is the one whose life has that tick, and no series reports from two places.
    #[test]
    fn each_place_has_the_series_that_lives_then() {
        for (places, millionths, ticks) in [(7, 2_000_000, 2_000), (1, 450_000, 9_000), (5, 0, 100)] {
            let churn = Churn::new(places, millionths, MINUTE_NS, ticks);
            for tick in 0..ticks + 100 {
                for place in 0..places {
                    let series = churn.series_at(place, tick);
                    assert_eq!(series % places, place, "{tick}");
                    assert!(
                        churn.life(series).contains(&tick),
                        "{series} in {tick}: {:?}",
                        churn.life(series)
                    );
                }
            }
            let all = churn.series_before(u64::MAX);
            assert_eq!(all, churn.series_before(ticks), "none begins after the last tick");
            let lives = (0..u32::try_from(all).expect("few")).map(|series| churn.life(series));
            let reported: u64 = lives.map(|life| life.end.min(ticks) - life.start).sum();
            assert_eq!(reported, ticks * u64::from(places), "each tick has a reading of each place");
        }
    }
}
