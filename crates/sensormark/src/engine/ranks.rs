//! Ranks: processes on hosts of their own that make one load together where no pipe joins them, but a shared folder.
//!
//! Every rank runs the same command and goes the same way. Rank 0 makes, settles and drops the database, says when a phase starts, puts together what all
//! clients have done, and counts what is stored. The others listen to rank 0 alone, and rank 0 to all of them (`lines.rs`). A rank that says nothing for too
//! long is given up by name, so nobody waits for ever. No secret goes through the folder: each rank has its own URL.
//!
//! What a rank measures is not decided here, nor how parts become one result ([`crate::measurement::parts`]).

pub mod lines;

use crate::engine::failure::TrialFailure;
use crate::measurement::parts;
use crate::probe::monotonic_ns;
use jiff::Timestamp;
use lines::{Listener, Share, Speaker, Welcome, Word};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The file of what a rank said, in its part of the results.
const SAID: &str = "said.jsonl";
/// How often a rank says that it runs.
const ALIVE: Duration = Duration::from_secs(1);
/// How often a rank that waits looks at what was said.
const LOOK: Duration = Duration::from_millis(20);
/// How often a rank that works looks whether the others still do.
const GLANCE: Duration = Duration::from_millis(500);
/// How long after its announcement a phase starts, in ns: every rank has to have read it by then.
const LEAD_NS: u64 = 500_000_000;

/// What a rank does while it waits: it looks at its own processes, say.
pub type Meanwhile<'a> = &'a mut dyn FnMut() -> Result<(), TrialFailure>;

/// How a rank comes to the others.
pub struct Arrival<'a> {
    /// The folder that all ranks see.
    pub shared: &'a Path,
    /// Its number, and how many there are.
    pub shard: (u32, u32),
    /// What it is about to do, by name: the same in all ranks.
    pub terms: BTreeMap<String, Value>,
    /// What rank 0 says of the run; of no account in others.
    pub welcome: Welcome,
    /// When the first phase starts at the earliest.
    pub start_at: Option<Timestamp>,
    /// How long it waits for a rank that says nothing, or does not come.
    pub patience: Duration,
}

/// A rank among the others.
pub struct Ranks {
    rank: u32,
    of: u32,
    shared: PathBuf,
    patience: Duration,
    start_at_ns: u64,
    /// When a rank that has said nothing yet is given up.
    come_by: Instant,
    speaker: Arc<Speaker>,
    others: Mutex<Others>,
    over: Arc<AtomicBool>,
    alive: Option<JoinHandle<()>>,
}

/// What is known of the other ranks.
struct Others {
    heard: Vec<Listener>,
    /// Why no rank goes on.
    lost: Option<String>,
    glanced: Instant,
}

/// The folder of a rank's part of the results.
pub fn part_name((rank, of): (u32, u32)) -> String {
    format!("rank-{rank}-of-{of}")
}

/// Nanoseconds since 1970 by this host's clock.
pub fn unix_ns() -> u64 {
    u64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(0)
}

/// This host's clock less CLOCK_MONOTONIC, in ns: the closest of some readings, because a process may lose the processor between two clocks.
pub fn unix_less_monotonic_ns() -> u64 {
    const READINGS: usize = 8;
    let reading = || {
        let before = monotonic_ns();
        let unix = unix_ns();
        let took = monotonic_ns().saturating_sub(before);
        (took, unix.saturating_sub(before + took / 2))
    };
    let closest = (0..READINGS).map(|_| reading()).min();
    closest.map_or(0, |(_, difference)| difference)
}

impl Ranks {
    /// Waits until all ranks are here, and gives what rank 0 says of the run.
    ///
    /// # Errors
    /// A rank that does not come in time, or that is about to do something else, by its number.
    pub fn meet(arrival: Arrival<'_>, meanwhile: Meanwhile<'_>) -> Result<(Self, Welcome), TrialFailure> {
        let (rank, of) = arrival.shard;
        let said = |rank| arrival.shared.join(part_name((rank, of))).join(SAID);
        let listened: Vec<u32> = if rank == 0 { (1..of).collect() } else { vec![0] };
        let heard = listened.into_iter().map(|other| Listener::new(other, said(other)));
        let start_at_ns =
            arrival.start_at.map_or(0, |start| u64::try_from(start.as_nanosecond()).unwrap_or(0));
        let until_start = Duration::from_nanos(start_at_ns.saturating_sub(unix_ns()));
        let mut ranks = Self {
            rank,
            of,
            shared: arrival.shared.to_path_buf(),
            patience: arrival.patience,
            start_at_ns,
            come_by: Instant::now() + until_start + arrival.patience,
            speaker: Arc::new(Speaker::new(said(rank))),
            others: Mutex::new(Others { heard: heard.collect(), lost: None, glanced: Instant::now() }),
            over: Arc::new(AtomicBool::new(false)),
            alive: None,
        };
        ranks.say(&Word::Came(arrival.terms.clone()))?;
        ranks.say_alive()?;
        let met = ranks.exchange_terms(&arrival, meanwhile);
        if let Err(failure) = &met {
            ranks.leave(&failure.to_string());
        }
        Ok((ranks, met?))
    }

    fn exchange_terms(
        &self,
        arrival: &Arrival<'_>,
        meanwhile: Meanwhile<'_>,
    ) -> Result<Welcome, TrialFailure> {
        if !self.is_first() {
            return self.hear_first("", meanwhile, |word| match word {
                Word::Welcome(welcome) => Some(welcome.clone()),
                _ => None,
            });
        }
        let came = self.hear_all("", meanwhile, |word| match word {
            Word::Came(terms) => Some(terms.clone()),
            _ => None,
        })?;
        for (rank, terms) in (1..).zip(&came) {
            if let Some(difference) = difference(&arrival.terms, (rank, terms)) {
                return Err(TrialFailure::Rank(difference));
            }
        }
        self.say(&Word::Welcome(arrival.welcome.clone()))?;
        Ok(arrival.welcome.clone())
    }

    /// Its number.
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// How many there are.
    pub const fn of(&self) -> u32 {
        self.of
    }

    /// Whether it is rank 0, which leads.
    pub const fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Waits until all ranks have come to a point of a trial or case.
    ///
    /// # Errors
    /// When one of them broke it off or is lost, by its number; what `meanwhile` says.
    pub fn pass(&self, scope: &str, what: &str, meanwhile: Meanwhile<'_>) -> Result<(), TrialFailure> {
        self.gather(scope, what, meanwhile, || None).map(drop)
    }

    /// The same, and gives the common start: ns since 1970.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub fn start(&self, scope: &str, what: &str, meanwhile: Meanwhile<'_>) -> Result<u64, TrialFailure> {
        let start = || Some((unix_ns() + LEAD_NS).max(self.start_at_ns));
        let agreed = self.gather(scope, what, meanwhile, start)?;
        Ok(agreed.unwrap_or_else(unix_ns))
    }

    fn gather(
        &self,
        scope: &str,
        what: &str,
        meanwhile: Meanwhile<'_>,
        start: impl Fn() -> Option<u64>,
    ) -> Result<Option<u64>, TrialFailure> {
        let point = format!("{scope}/{what}");
        if !self.is_first() {
            self.say(&Word::Reached(point.clone()))?;
            return self.hear_first(scope, meanwhile, |word| match word {
                Word::Go { point: reached, start_unix_ns } if *reached == point => Some(*start_unix_ns),
                _ => None,
            });
        }
        self.hear_all(scope, meanwhile, |word| match word {
            Word::Reached(reached) if *reached == point => Some(()),
            _ => None,
        })?;
        let start_unix_ns = start();
        self.say(&Word::Go { point, start_unix_ns })?;
        Ok(start_unix_ns)
    }

    /// Hands over what this rank's clients have done. Rank 0 gets what those of all ranks did, in their order; the others get nothing.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub fn share(
        &self,
        scope: &str,
        what: &str,
        own: Share,
        meanwhile: Meanwhile<'_>,
    ) -> Result<Vec<Share>, TrialFailure> {
        let point = format!("{scope}/{what}");
        if !self.is_first() {
            let share = Box::new(own);
            self.say(&Word::Share { point, share })?;
            return Ok(Vec::new());
        }
        let others = self.hear_all(scope, meanwhile, |word| match word {
            Word::Share { point: reached, share } if *reached == point => Some(share.as_ref().clone()),
            _ => None,
        })?;
        Ok(std::iter::once(own).chain(others).collect())
    }

    /// What all clients have written in a phase: rank 0 says it, the others hear it.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub fn whole(
        &self,
        scope: &str,
        what: &str,
        outcome: Option<crate::engine::outcome::PhaseOutcome>,
        meanwhile: Meanwhile<'_>,
    ) -> Result<crate::engine::outcome::PhaseOutcome, TrialFailure> {
        let point = format!("{scope}/{what}");
        if let Some(outcome) = outcome {
            let said = Box::new(outcome.clone());
            self.say(&Word::Whole { point, outcome: said })?;
            return Ok(outcome);
        }
        self.hear_first(scope, meanwhile, |word| match word {
            Word::Whole { point: reached, outcome } if *reached == point => Some(outcome.as_ref().clone()),
            _ => None,
        })
    }

    /// Says that this rank broke a trial or case off.
    pub fn broken_off(&self, scope: &str, failure: &TrialFailure) {
        let why = match failure {
            TrialFailure::Rank(text) => text.clone(),
            own => format!("rank {}: {own}", self.rank),
        };
        let scope = scope.to_owned();
        // Nobody who cannot be told waits for ever: a rank that is silent is given up.
        drop(self.say(&Word::BrokenOff { scope, why }));
    }

    /// Looks, not too often, whether the others still go on with a trial.
    ///
    /// # Errors
    /// When one of them broke it off or is lost, by its number.
    pub fn glance(&self, scope: &str) -> Result<(), TrialFailure> {
        let mut others = self.others();
        if others.glanced.elapsed() < GLANCE {
            return Ok(());
        }
        others.glanced = Instant::now();
        self.listen(&mut others)?;
        self.fault(&mut others, scope)
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        // What a panic left is at worst an unread line.
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a word of each other rank, in their order.
    fn hear_all<T>(
        &self,
        scope: &str,
        meanwhile: Meanwhile<'_>,
        passes: impl Fn(&Word) -> Option<T>,
    ) -> Result<Vec<T>, TrialFailure> {
        let mut found: BTreeMap<u32, T> = BTreeMap::new();
        loop {
            meanwhile()?;
            let mut others = self.others();
            self.listen(&mut others)?;
            for listener in &mut others.heard {
                if !found.contains_key(&listener.rank)
                    && let Some(one) = listener.take(&passes)
                {
                    found.insert(listener.rank, one);
                }
            }
            if found.len() == others.heard.len() {
                return Ok(found.into_values().collect());
            }
            self.fault(&mut others, scope)?;
            let gone = others
                .heard
                .iter()
                .find(|one| one.waiting.contains(&Word::Ended) && !found.contains_key(&one.rank));
            if let Some(gone) = gone {
                let why = format!("rank {} has ended before the others", gone.rank);
                return Err(TrialFailure::Rank(others.lost.insert(why).clone()));
            }
            drop(others);
            thread::sleep(LOOK);
        }
    }

    fn hear_first<T>(
        &self,
        scope: &str,
        meanwhile: Meanwhile<'_>,
        passes: impl Fn(&Word) -> Option<T>,
    ) -> Result<T, TrialFailure> {
        let mut found = self.hear_all(scope, meanwhile, passes)?;
        found.pop().ok_or_else(|| TrialFailure::System("rank 0 is missing".to_owned()))
    }

    fn listen(&self, others: &mut Others) -> Result<(), TrialFailure> {
        for listener in &mut others.heard {
            let heard = listener.listen();
            heard.map_err(|error| {
                let (rank, folder) = (listener.rank, self.shared.display());
                TrialFailure::Rank(format!("what rank {rank} said in {folder} cannot be read: {error}"))
            })?;
        }
        Ok(())
    }

    /// Why the others do not go on with this.
    fn fault(&self, others: &mut Others, scope: &str) -> Result<(), TrialFailure> {
        if let Some(why) = &others.lost {
            return Err(TrialFailure::Rank(why.clone()));
        }
        for listener in &mut others.heard {
            let broken = listener.take(|word| match word {
                Word::BrokenOff { scope: broken, why } if broken == scope => Some(why.clone()),
                _ => None,
            });
            if let Some(why) = broken {
                return Err(TrialFailure::Rank(why));
            }
        }
        let lost = others.heard.iter().find_map(|one| self.lost(one));
        match lost {
            None => Ok(()),
            Some(why) => Err(TrialFailure::Rank(others.lost.insert(why).clone())),
        }
    }

    /// Why a rank will say nothing more.
    fn lost(&self, one: &Listener) -> Option<String> {
        let left = one.waiting.iter().find_map(|word| match word {
            Word::Left(why) => Some(why.clone()),
            _ => None,
        });
        let (rank, seconds) = (one.rank, self.patience.as_secs_f64());
        let silent = || {
            match one.heard {
            None => (Instant::now() > self.come_by).then(|| {
                format!(
                    "rank {rank} of {} did not come within {seconds} s: start it with --shard {rank}/{} and a --results folder that all ranks see, or wait longer with --rank-timeout",
                    self.of, self.of
                )
            }),
            Some(heard) => (heard.elapsed() > self.patience && !one.waiting.contains(&Word::Ended))
                .then(|| format!("rank {rank} has said nothing for {seconds} s: its process or its host is gone, or it does not see the results folder any more")),
        }
        };
        left.or_else(silent)
    }

    fn say(&self, word: &Word) -> Result<(), TrialFailure> {
        self.speaker.say(word).map_err(|error| {
            let folder = self.shared.display();
            TrialFailure::System(format!("cannot write to {folder}: {error}"))
        })
    }

    /// Says that this rank does not go on.
    fn leave(&self, why: &str) {
        let is_others = why.starts_with("rank ");
        let why = if is_others { why.to_owned() } else { format!("rank {} left: {why}", self.rank) };
        drop(self.say(&Word::Left(why)));
        self.over.store(true, Ordering::Relaxed);
    }

    fn say_alive(&mut self) -> Result<(), TrialFailure> {
        let (speaker, over) = (Arc::clone(&self.speaker), Arc::clone(&self.over));
        let alive = thread::Builder::new().spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // A word that cannot be written is missed by who waits for it.
                drop(speaker.say(&Word::Alive));
                thread::park_timeout(ALIVE);
            }
        });
        let failed = |error| TrialFailure::System(format!("cannot start a thread: {error}"));
        let alive = alive.map_err(failed);
        self.alive = Some(alive.inspect_err(|failure| self.leave(&failure.to_string()))?);
        Ok(())
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        let has_left = self.over.swap(true, Ordering::Relaxed);
        if let Some(alive) = self.alive.take() {
            alive.thread().unpark();
            drop(alive.join());
        }
        if !has_left {
            drop(self.say(&Word::Ended));
        }
    }
}

/// The first thing in which a rank differs from rank 0, in words.
fn difference(
    first: &BTreeMap<String, Value>,
    (rank, other): (u32, &BTreeMap<String, Value>),
) -> Option<String> {
    let (name, [ours, theirs]) = parts::difference(first, other)?;
    Some(format!(
        "rank {rank} has another {name} than rank 0: {theirs} there, {ours} here; start all ranks with the same program and the same command, but for --shard and the URL"
    ))
}

#[cfg(test)]
mod tests;
