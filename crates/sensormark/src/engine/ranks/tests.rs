//! Ranks in threads of one process: they meet, go on together, and give up by name who is missing or different.

use super::*;
use std::fs;
use tempfile::TempDir;

fn terms(seed: u64) -> BTreeMap<String, Value> {
    [("seed".to_owned(), Value::from(seed))].into()
}

fn meet(
    shared: &Path,
    shard: (u32, u32),
    seed: u64,
    patience: Duration,
) -> Result<(Ranks, Welcome), TrialFailure> {
    fs::create_dir_all(shared.join(part_name(shard))).expect("a part's folder");
    let arrival = Arrival {
        shared,
        shard,
        terms: terms(seed),
        welcome: Welcome { run: format!("run-{}", shard.0), owner: format!("owner-{}", shard.0) },
        start_at: None,
        patience,
    };
    Ranks::meet(arrival, &mut || Ok(()))
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

const SOON: Duration = Duration::from_secs(10);

#[test]
fn three_ranks_start_together_and_hear_what_all_did() {
    let scratch = scratch();
    let starts: Vec<u64> = thread::scope(|scope| {
        let way = |rank| {
            let shared = scratch.path();
            move || {
                let (ranks, welcome) = meet(shared, (rank, 3), 1, SOON).expect("all come");
                assert_eq!(welcome.owner, "owner-0");
                ranks.pass("case", "made", &mut || Ok(())).expect("all pass");
                let start = ranks.start("trial", "load", &mut || Ok(()));
                let own = Share { started_unix_ns: u64::from(rank), report: None };
                let shares = ranks.share("trial", "load", own, &mut || Ok(()));
                let shares = shares.expect("all share");
                let numbers: Vec<u64> = shares.iter().map(|one| one.started_unix_ns).collect();
                let expected: &[u64] = if rank == 0 { &[0, 1, 2] } else { &[] };
                assert_eq!(numbers, expected);
                start.expect("all start")
            }
        };
        let ranks: Vec<_> = (0..3).map(|rank| scope.spawn(way(rank))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    });
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
}

#[test]
fn a_rank_that_never_comes_is_named() {
    let scratch = scratch();
    let patience = Duration::from_millis(300);
    let why = meet(scratch.path(), (0, 2), 1, patience).err().expect("nobody comes");
    let why = why.to_string();
    assert!(why.contains("rank 1 of 2 did not come within 0.3 s"), "{why}");
    assert!(why.contains("--shard 1/2"), "{why}");
}

#[test]
fn a_rank_with_another_seed_is_refused_on_both_sides() {
    let scratch = scratch();
    let both = thread::scope(|scope| {
        let other = scope.spawn(|| meet(scratch.path(), (1, 2), 8, SOON).map(drop));
        let first = meet(scratch.path(), (0, 2), 7, SOON).map(drop);
        [first, other.join().expect("no panic")]
    });
    for one in both {
        let why = one.expect_err("they differ").to_string();
        assert!(why.starts_with("rank 1 has another seed than rank 0: 8 there, 7 here"), "{why}");
    }
}

#[test]
fn what_breaks_one_rank_off_breaks_the_trial_off_for_all_and_the_next_goes_on() {
    let scratch = scratch();
    let way = |rank| {
        let (ranks, _) = meet(scratch.path(), (rank, 3), 1, SOON).expect("all come");
        if rank == 2 {
            let own = TrialFailure::System("no memory".to_owned());
            ranks.broken_off("one", &own);
        } else {
            let why = ranks.pass("one", "load", &mut || Ok(())).expect_err("it breaks");
            assert_eq!(why.to_string(), "rank 2: no memory");
            ranks.broken_off("one", &why);
        }
        ranks.pass("two", "load", &mut || Ok(())).expect("all pass");
    };
    thread::scope(|scope| {
        for rank in 0..3 {
            scope.spawn(move || way(rank));
        }
    });
}

#[test]
fn a_rank_that_falls_silent_is_named_to_all() {
    let scratch = scratch();
    let patience = Duration::from_millis(1_500);
    let way = |rank| {
        let (ranks, _) = meet(scratch.path(), (rank, 3), 1, patience).expect("all come");
        if rank == 2 {
            // As if it were killed: it says nothing more.
            ranks.over.store(true, Ordering::Relaxed);
            thread::sleep(Duration::from_secs(3));
            return;
        }
        let why = ranks.pass("one", "load", &mut || Ok(())).expect_err("it is gone");
        assert!(why.to_string().starts_with("rank 2 has said nothing for 1.5 s"), "{why}");
        ranks.broken_off("one", &why);
        if rank == 0 {
            let again = ranks.pass("two", "load", &mut || Ok(())).expect_err("it stays lost");
            assert_eq!(again.to_string(), why.to_string());
        }
    };
    thread::scope(|scope| {
        for rank in 0..3 {
            scope.spawn(move || way(rank));
        }
    });
}
