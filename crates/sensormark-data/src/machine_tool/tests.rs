//! Tests of the machine tool's signal: golden values, bounds, and that columns and single samples agree.

#![expect(clippy::cast_possible_truncation, reason = "test data sets are small")]

use super::super::random::finalise;
use super::*;

const SEEDS: [u64; 8] = [0, 1, 2, 42, 1_000, 0xdead_beef, u64::MAX - 1, u64::MAX];

fn columns(machine: &MachineTool, start: u64, length: usize) -> [Vec<u16>; CHANNELS] {
    std::array::from_fn(|channel| {
        let mut column = vec![0; length];
        machine.fill(start, channel, &mut column);
        column
    })
}

#[test]
fn golden_checksums() {
    let columns = columns(&MachineTool::new(42), 0, 100_000);
    let sums = columns.map(|column| column.iter().fold(0, |sum, &value| finalise(sum ^ u64::from(value))));
    assert_eq!(
        sums,
        [
            11_503_497_847_198_302_320,
            6_926_630_957_546_492_302,
            15_319_597_232_595_431_488,
            9_268_857_404_238_642_461,
            2_841_214_804_200_770_214
        ]
    );
}

#[test]
fn columns_hold_what_single_samples_say() {
    for (seed, start) in [(1, 0), (2, 1), (3, 7), (4, 12_345_677), (5, INDEX_LIMIT - 20_000)] {
        let machine = MachineTool::new(seed);
        let columns = columns(&machine, start, 10_007);
        for (index, offset) in (start..).zip(0..columns[0].len()) {
            let filled: [u16; CHANNELS] = std::array::from_fn(|channel| columns[channel][offset]);
            assert_eq!(filled, machine.sample(index), "seed {seed}, sample {index}");
        }
    }
}

#[test]
fn short_and_empty_columns_are_filled_too() {
    let machine = MachineTool::new(6);
    for start in 0..20 {
        for length in 0..20 {
            let columns = columns(&machine, start, length);
            for (index, offset) in (start..).zip(0..length) {
                assert_eq!(columns[0][offset], machine.sample(index)[0]);
            }
        }
    }
}

#[test]
fn a_cycle_holds_the_samples_that_say_so() {
    for seed in SEEDS {
        let machine = MachineTool::new(seed);
        let mut next = 0;
        for cycle in 0..3_000 {
            let samples = machine.cycle(cycle);
            assert_eq!(samples.start, next, "cycles leave no gap");
            next = samples.end;
            assert_eq!(machine.cycle_at(samples.start), cycle);
            assert_eq!(machine.cycle_at(samples.end - 1), cycle);
            if cycle > 0 {
                assert!((320..=347).contains(&(samples.end - samples.start)));
            }
        }
        assert_eq!(next.abs_diff(1_000_000) / 1_000, 0, "3 cycles a second");
    }
}

#[test]
fn cycles_lengths_vary() {
    let machine = MachineTool::new(1);
    let lengths: Vec<u64> =
        (1..1_000).map(|cycle| machine.cycle(cycle)).map(|samples| samples.end - samples.start).collect();
    assert!(*lengths.iter().min().expect("not empty") < 326);
    assert!(*lengths.iter().max().expect("not empty") > 341);
}

#[test]
fn the_angle_crosses_each_threshold_once_a_flank() {
    for seed in SEEDS {
        let machine = MachineTool::new(seed);
        let mut angle = vec![0; 1_000_000];
        machine.fill(0, 0, &mut angle);
        let (mut index, mut cycle) = (machine.cycle(0).end, 1);
        while machine.cycle(cycle).end < 1_000_000 {
            let samples = machine.cycle(cycle);
            for sample in samples.start + 1..samples.end {
                let (before, after) = (angle[sample as usize - 1], angle[sample as usize]);
                assert!(after >= before + 3, "seed {seed}, sample {sample}: {before}, {after}");
            }
            let (last, first) = (angle[samples.start as usize - 1], angle[samples.start as usize]);
            assert!(last > 4_067 && first < 22, "seed {seed}, cycle {cycle}: {last}, {first}");
            index = samples.end;
            cycle += 1;
        }
        assert!(index > 999_000);
    }
}

#[test]
fn noise_stays_within_its_bound_and_uses_it() {
    for seed in SEEDS {
        let machine = MachineTool::new(seed);
        let columns = columns(&machine, 0, 1_000_000);
        for (channel, column) in columns.iter().enumerate().skip(1) {
            let (period, amplitude) = SINES[channel - 1];
            let (mut square, mut worst) = (0.0, 0);
            for (index, &value) in (0u64..).zip(column) {
                let base = {
                    let period = &machine.sines[channel - 1];
                    period[index as usize % period.len()] + NOISE_BOUND
                };
                worst = worst.max(value.abs_diff(base));
                square += (f64::from(value) - f64::from(base)).powi(2);
            }
            assert_eq!(worst, NOISE_BOUND, "seed {seed}, channel {channel}, period {period}");
            assert!((square / 1e6 - 2.0).abs() < 0.02, "variance of eight coins");
            let largest = f64::from(*column.iter().max().expect("not empty"));
            assert!((largest - 2_048.0 - amplitude).abs() <= f64::from(NOISE_BOUND) + 1.0);
        }
        assert!(columns[0].iter().all(|&value| value <= AMPLITUDE));
    }
}

#[test]
fn seeds_make_different_machines() {
    assert_ne!(columns(&MachineTool::new(1), 0, 100), columns(&MachineTool::new(2), 0, 100));
}

#[test]
#[should_panic(expected = "beyond the signal's limit")]
fn an_index_beyond_the_limit_is_refused() {
    let _ = MachineTool::new(0).sample(INDEX_LIMIT);
}
