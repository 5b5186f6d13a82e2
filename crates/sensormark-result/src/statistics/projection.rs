//! What a figure comes to at a size that nobody measured, from what it was at smaller ones: a band, or why there is none.

use crate::measurement::sizes::TIMES;
use sensormark_data::number::count_text;
use sensormark_data::quantity::short;

/// What was found at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Readings that were stored.
    pub readings: f64,
    /// The figure, above 0.
    pub value: f64,
    /// Its standard error, as a share of it.
    pub noise: f64,
}

/// Between what the figure is expected to lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// Why a figure cannot be projected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    /// It was measured at too few sizes: so many, of those that it takes.
    TooFew(usize, usize),
    /// The size is too far from the largest that was measured; this one would do.
    TooFar(f64),
    /// No model of how it grows foretells the larger sizes from the smaller ones.
    NoModel,
    /// Disk grew by so many bytes a reading, then by so many.
    Uneven(f64, f64),
}

impl Open {
    /// Why, in words, where the largest size that was measured had so many readings, and this many are meant.
    pub fn words(self, measured: f64, readings: f64) -> String {
        let (measured, readings) = (count_text(measured), count_text(readings));
        match self {
            Self::TooFar(_) => format!("measured with {measured} readings; yours are {readings}"),
            Self::TooFew(sizes, least) => format!("measured at {sizes} sizes, and it takes {least}"),
            Self::NoModel => format!("it grows unevenly up to {measured} readings"),
            Self::Uneven(before, after) => {
                format!("a reading took {} bytes, then {}", short(before), short(after))
            }
        }
    }

    /// How many readings would tell, where the largest size that was measured had so many.
    pub fn needs(self, measured: f64) -> f64 {
        let times = TIMES as f64;
        match self {
            Self::TooFar(needs) => needs,
            Self::TooFew(sizes, least) => {
                measured * times.powi(i32::try_from(least.saturating_sub(sizes)).unwrap_or(0))
            }
            Self::NoModel | Self::Uneven(..) => measured * times,
        }
    }
}

/// Sizes that a model of two parameters takes, one of them to be foretold from the others.
const SIZES: usize = 4;
/// A question is projected to so many times the largest size.
pub const FARTHEST: f64 = 16.0;
/// A model may miss a size by so much of it, or by so many times the noise.
const MISS: f64 = 0.25;
const NOISES: f64 = 3.0;
/// Slopes of disk may differ by so much of the larger.
const SLOPES: f64 = 0.2;
/// The band of disk is so much wider than its slopes.
const DISK: f64 = 0.1;
/// A size that is so little beyond the largest was measured.
const SAME: f64 = 1.02;

/// What a figure grows by, of the readings; none where it stays.
type Growth = Option<fn(f64) -> f64>;
/// How a figure may grow: by nothing, by the logarithm of the readings, or by the readings.
const GROWTHS: [Growth; 3] = [None, Some(f64::ln), Some(|readings| readings)];

/// A figure at this size. Points are in order of their size.
///
/// # Errors
/// Why there is no band.
pub fn project(points: &[Point], readings: f64) -> Result<Band, Open> {
    let (last, before) = points.split_last().ok_or(Open::TooFew(0, SIZES))?;
    if readings <= last.readings * SAME {
        return Ok(nearest(points, readings));
    }
    if readings > last.readings * FARTHEST {
        return Err(Open::TooFar(readings / FARTHEST));
    }
    if points.len() < SIZES {
        return Err(Open::TooFew(points.len(), SIZES));
    }
    let noise = points.iter().map(|point| point.noise).fold(0.0, f64::max);
    let miss = MISS.max(NOISES * noise);
    // As far below the largest size as the one that is meant lies above it.
    let times = (readings / last.readings).max(SAME);
    let early = points.iter().filter(|point| point.readings * times <= last.readings * SAME).count();
    let (early, later) = points.split_at(early.clamp(2, before.len()));
    let counts = |growth: &&Growth| {
        later.iter().all(|one| (fit(early, **growth, one.readings) - one.value).abs() <= miss * one.value)
    };
    let foretold = GROWTHS.iter().filter(counts).map(|growth| fit(points, *growth, readings));
    let (low, high) = foretold
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    if high <= 0.0 {
        return Err(Open::NoModel);
    }
    Ok(Band { low: low.max(0.0) * (1.0 - miss).max(0.0), high: high * (1.0 + miss) })
}

/// The size that was measured and is nearest.
fn nearest(points: &[Point], readings: f64) -> Band {
    let distance = |point: &Point| (point.readings / readings).ln().abs();
    let nearest = points.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
    let value = nearest.map_or(0.0, |point| point.value);
    Band { low: value, high: value }
}

/// The value at this size of the model of this growth, by least squares of the shares that it misses by.
fn fit(points: &[Point], growth: Growth, readings: f64) -> f64 {
    let weighted = |of: &dyn Fn(&Point) -> f64| -> f64 {
        points.iter().map(|point| of(point) / point.value.powi(2)).sum()
    };
    let (weight, value) = (weighted(&|_| 1.0), weighted(&|point| point.value));
    let Some(growth) = growth else { return value / weight };
    let grown = weighted(&|point| growth(point.readings));
    let squares = weighted(&|point| growth(point.readings).powi(2));
    let both = weighted(&|point| growth(point.readings) * point.value);
    let slope = (weight * both - grown * value) / (weight * squares - grown * grown);
    (value - slope * grown) / weight + slope * growth(readings)
}

/// Bytes on disk at this size, from pairs of readings and bytes in order of their size. They grow by a straight line, whose slope is that of the last two. An
/// empty database is no size.
///
/// # Errors
/// Why there is no band.
pub fn project_disk(points: &[(f64, f64)], readings: f64) -> Result<Band, Open> {
    let slope = |one: &(f64, f64), other: &(f64, f64)| (other.1 - one.1) / (other.0 - one.0);
    let between = points.windows(2).find(|pair| readings <= pair[1].0 * SAME);
    if let Some([fewer, more]) = between {
        let bytes = fewer.1 + slope(fewer, more) * (readings.min(more.0) - fewer.0).max(0.0);
        return Ok(Band { low: bytes, high: bytes });
    }
    let sizes = points.iter().filter(|(readings, _)| *readings > 0.0).count();
    let [.., first, second, third] = &points[points.len() - sizes..] else {
        return Err(Open::TooFew(sizes, 3));
    };
    let (earlier, later) = (slope(first, second), slope(second, third));
    let (last, bytes) = third;
    let (low, high) = (earlier.min(later), earlier.max(later));
    if low <= 0.0 || high - low > SLOPES * high {
        return Err(Open::Uneven(earlier, later));
    }
    let at = |slope: f64| bytes + slope * (readings - last);
    Ok(Band { low: at(low) * (1.0 - DISK), high: at(high) * (1.0 + DISK) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(of: impl Fn(f64) -> f64) -> Vec<Point> {
        let sizes = [1e4, 4e4, 1.6e5, 6.4e5];
        sizes.map(|readings| Point { readings, value: of(readings), noise: 0.01 }).to_vec()
    }

    #[test]
    fn a_figure_that_grows_by_a_model_lies_in_its_band() {
        for of in [|_: f64| 3.0, |n: f64| 1.0 + n.ln(), |n: f64| 2.0 + n / 1e4] {
            let band = project(&grown(of), 1e7).unwrap();
            let truth = of(1e7);
            assert!(band.low <= truth && truth <= band.high, "{band:?} {truth}");
            assert!(band.high < 2.5 * band.low, "{band:?}");
        }
    }

    #[test]
    fn what_no_model_foretells_and_what_is_too_far_is_open() {
        let jumps = grown(|n| if n > 5e5 { 50.0 } else { 1.0 });
        assert_eq!(project(&jumps, 1e6), Err(Open::NoModel));
        assert_eq!(project(&grown(|_| 1.0), 1.6e8), Err(Open::TooFar(1e7)));
        assert_eq!(project(&grown(|_| 1.0)[1..], 1e6), Err(Open::TooFew(3, 4)));
        assert_eq!(project(&grown(|n| n), 6.4e5), Ok(Band { low: 6.4e5, high: 6.4e5 }), "it was measured");
    }

    /// The plant of 100 sensors: half an hour of data said 103.6 GB, twenty hours 78.7 GB.
    #[test]
    fn disk_is_what_it_has_from_the_start_and_a_slope() {
        let even = [(1e4, 7e6), (4e4, 1e7), (1.6e5, 2.2e7), (6.4e5, 7e7)];
        let band = project_disk(&even, 777e6).unwrap();
        assert!((band.low..band.high).contains(&(6e6 + 100.0 * 777e6)), "{band:?}");
        let inside = project_disk(&even, 1e5).unwrap();
        assert_eq!(inside, Band { low: 1.6e7, high: 1.6e7 });
        let uneven = [(1e4, 7e6), (4e4, 1e7), (1.6e5, 3.4e7)];
        assert_eq!(project_disk(&uneven, 1e6), Err(Open::Uneven(100.0, 200.0)));
        assert_eq!(project_disk(&[&[(0.0, 1e6)], &even[..2]].concat(), 1e6), Err(Open::TooFew(2, 3)));
    }

    /// Readings of 100 sensors that send each second, and bytes on disk without logs, as a run of some minutes measured them on 2026-11-27.
    const RECORDED: [(&str, &[(f64, f64)]); 3] = [
        (
            "PostgreSQL",
            &[
                (11_800.0, 32_468_992.0),
                (48_700.0, 36_671_488.0),
                (192_400.0, 52_002_816.0),
                (763_300.0, 108_953_600.0),
                (3_042_800.0, 340_160_512.0),
                (12_156_700.0, 1_253_322_752.0),
            ],
        ),
        (
            "SQLite",
            &[
                (11_800.0, 688_128.0),
                (48_700.0, 2_752_512.0),
                (192_400.0, 11_132_928.0),
                (763_300.0, 43_802_624.0),
                (3_042_800.0, 175_132_672.0),
                (12_156_700.0, 710_443_008.0),
            ],
        ),
        (
            "DuckDB",
            &[
                (11_800.0, 1_327_104.0),
                (48_700.0, 1_851_392.0),
                (192_400.0, 2_637_824.0),
                (763_300.0, 6_832_128.0),
                (3_042_800.0, 18_894_848.0),
                (12_156_700.0, 72_372_224.0),
                (48_608_100.0, 286_543_872.0),
            ],
        ),
    ];

    /// A quick run ends with three million readings, and twelve million are 34 hours of these sensors. Their 90 days are 777,600,000.
    #[test]
    fn what_a_quick_run_decides_about_a_disk_is_not_otherwise_with_more_data() {
        let verdict = |points: &[(f64, f64)], gigabytes: f64| {
            let Band { low, high } = project_disk(points, 777.6e6).ok()?;
            let meets = [low, high].map(|bytes| bytes <= gigabytes * 1e9);
            (meets[0] == meets[1]).then_some(meets[0])
        };
        for (database, points) in RECORDED {
            let mut decided = 0;
            for gigabytes in (1..200).map(f64::from) {
                let (quick, long) = (verdict(&points[..5], gigabytes), verdict(points, gigabytes));
                decided += u32::from(quick.is_some());
                assert!(
                    quick.is_none() || long.is_none() || quick == long,
                    "{database}: {gigabytes} GB are {quick:?}, then {long:?}"
                );
            }
            // What a reading of DuckDB took changed too much between the last sizes of a quick run.
            let is_uneven = database == "DuckDB";
            assert!(is_uneven || decided > 150, "{database}: {decided} of 199 sizes of a disk are decided");
        }
        // Half an hour of data had said 103.6 GB, by a straight line from nothing.
        assert_eq!(verdict(&RECORDED[0].1[..5], 100.0), Some(true));
    }
}
