//! How long a run still takes: by the plan at first, then by what its cases really took.
//!
//! A case that had its turn before takes as long as it took then. Another layout of the same database differs from its planned time by as much as that
//! case did. A database that had no turn yet differs by as much as all turns did together. Repeats of disturbed trials, and waiting for a quiet host, add
//! as much as they added so far. They add no more than the run may still spend on them.

/// What a turn is planned to take.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCase {
    /// The case, by its number.
    pub case: usize,
    /// The database.
    pub store: String,
    /// How long it takes by the plan, in seconds.
    pub seconds: f64,
}

/// What is left of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// The turn that begins now, in seconds.
    pub now: f64,
    /// All turns after it, in seconds.
    pub after: f64,
}

impl Left {
    /// How long it is until the end, so many seconds after the turn began. A turn that is over its time is taken to last a tenth longer.
    pub fn seconds_after(&self, since: f64) -> f64 {
        (self.now - since).max(since * 0.1) + self.after
    }
}

/// The turns of a run, and what those that are over took.
#[derive(Debug, Clone, Default)]
pub struct TimeLeft {
    turns: Vec<PlannedCase>,
    /// By turn, of those that are over: what each took, in seconds.
    took: Vec<f64>,
    /// What repeats and waiting took so far, in seconds.
    repeated: f64,
    /// What they are expected to add to a turn before anything is known, as a share of its time.
    expected_share: f64,
}

impl TimeLeft {
    /// Of a run that begins; repeats are expected to add this share to its turns.
    pub const fn new(turns: Vec<PlannedCase>, expected_share: f64) -> Self {
        Self { turns, took: Vec::new(), repeated: 0.0, expected_share }
    }

    /// A repeat, or the wait before it, took so many seconds.
    pub fn repeated(&mut self, seconds: f64) {
        self.repeated += seconds;
    }

    /// The turn that is under way is over, and took so many seconds.
    pub fn finished(&mut self, seconds: f64) {
        self.took.push(seconds);
    }

    /// What is left when the next turn begins, and repeats may take so many seconds.
    pub fn left(&self, most_repeats: f64) -> Left {
        let mut rest = self.turns.iter().skip(self.took.len());
        let now = rest.next().map_or(0.0, |turn| self.expected(turn));
        let after: f64 = rest.map(|turn| self.expected(turn)).sum();
        let repeats = (self.repeated_share() * (now + after)).min(most_repeats);
        Left { now, after: after + repeats }
    }

    /// What is left when a part of the turn that was last over is repeated, which takes so many seconds by the plan.
    pub fn left_of_repeat(&self, seconds: f64, most_repeats: f64) -> Left {
        let last = self.took.len().checked_sub(1);
        let store = last.map_or("", |last| &self.turns[last].store);
        let now = seconds * self.ratio(store);
        let left = self.left((most_repeats - now).max(0.0));
        Left { now, after: left.now + left.after }
    }

    /// What repeats and waiting add to a turn, as a share of its time.
    fn repeated_share(&self) -> f64 {
        let took: f64 = self.took.iter().sum();
        if took > 0.0 { self.repeated / took } else { self.expected_share }
    }

    /// Turns that are over, with what each took.
    fn over(&self) -> impl Iterator<Item = (&PlannedCase, f64)> {
        self.turns.iter().zip(self.took.iter().copied())
    }

    fn expected(&self, turn: &PlannedCase) -> f64 {
        let same = self.over().filter(|(over, _)| over.case == turn.case);
        let (count, sum) = same.fold((0.0, 0.0), |(count, sum), (_, took)| (count + 1.0, sum + took));
        if count > 0.0 {
            return sum / count;
        }
        turn.seconds * self.ratio(&turn.store)
    }

    /// What turns of a database took, by what they were planned to take; of all databases where it had none.
    fn ratio(&self, store: &str) -> f64 {
        let of = |is_meant: &dyn Fn(&PlannedCase) -> bool| {
            let meant = self.over().filter(|(turn, _)| is_meant(turn));
            let sums = meant.fold((0.0, 0.0), |(planned, took), (turn, seconds)| {
                (planned + turn.seconds, took + seconds)
            });
            (sums.0 > 0.0).then(|| sums.1 / sums.0)
        };
        of(&|turn| turn.store == store).or_else(|| of(&|_| true)).unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> TimeLeft {
        let turn = |case, store: &str, seconds| PlannedCase { case, store: store.to_owned(), seconds };
        let turns = vec![
            turn(0, "SQLite", 10.0),
            turn(1, "SQLite", 4.0),
            turn(2, "MariaDB", 6.0),
            turn(0, "SQLite", 10.0),
        ];
        TimeLeft::new(turns, 0.0)
    }

    #[test]
    fn what_turns_took_corrects_what_is_left() {
        let mut left = run();
        let planned = Left { now: 10.0, after: 20.0 };
        assert_eq!(left.left(f64::INFINITY), planned);
        left.finished(20.0);
        // Twice as long as planned: so do its other layout and the other database, and the same case takes what it took.
        let corrected = Left { now: 8.0, after: 12.0 + 20.0 };
        assert_eq!(left.left(f64::INFINITY), corrected);
        left.finished(1.0);
        // SQLite took 21 s instead of 14, and so does what is not known yet.
        assert_eq!(left.left(f64::INFINITY).now, 9.0);
        left.finished(3.0);
        let last = Left { now: 20.0, after: 0.0 };
        assert_eq!(left.left(f64::INFINITY), last);
        left.finished(20.0);
        assert_eq!(left.left(f64::INFINITY).now, 0.0);
    }

    #[test]
    fn a_repeat_comes_before_what_is_left() {
        let mut left = run();
        left.finished(5.0);
        let repeat = left.left_of_repeat(4.0, f64::INFINITY);
        let expected = Left { now: 2.0, after: 2.0 + 3.0 + 5.0 };
        assert_eq!(repeat, expected);
    }

    #[test]
    fn repeats_add_what_they_added_so_far_and_no_more_than_they_may() {
        let mut left = TimeLeft::new(run().turns, 0.1);
        let expected = |now, after| Left { now, after };
        assert_eq!(left.left(f64::INFINITY), expected(10.0, 23.0));
        assert_eq!(left.left(1.0), expected(10.0, 21.0));
        left.finished(10.0);
        assert_eq!(left.left(f64::INFINITY), expected(4.0, 16.0));
        left.repeated(5.0);
        assert_eq!(left.left(f64::INFINITY), expected(4.0, 26.0));
        assert_eq!(left.left(0.0), expected(4.0, 16.0));
    }

    #[test]
    fn a_turn_over_its_time_ends_soon() {
        let left = Left { now: 10.0, after: 5.0 };
        assert_eq!(left.seconds_after(4.0), 11.0);
        assert_eq!(left.seconds_after(30.0), 8.0);
    }
}
