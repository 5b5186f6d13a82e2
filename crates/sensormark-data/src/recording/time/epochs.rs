//! Times that are numbers: what they count, from which day, and which of them a number can be.
//!
//! 1423666080 is 2015-02-11 as Unix seconds and 2025-02-15 as GPS seconds. So a number alone is taken for a time only where one meaning
//! alone gives a plausible year. Which column it is about is decided elsewhere.

use super::*;
use jiff::{Span, SpanRelativeTo};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;

/// What a number counts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Epoch {
    /// What an option calls it.
    pub name: String,
    /// Nanoseconds of one step.
    unit_ns: i128,
    /// From the day that it counts from to 1970-01-01, in ns.
    before_unix_ns: i128,
}

/// The epochs that have a name.
pub static EPOCHS: LazyLock<Vec<Epoch>> = LazyLock::new(|| rows(TABLE));

/// A line each, in the columns of [`Epoch`].
const TABLE: &str = "
name unit_ns before_unix_ns
unix-s 1000000000 0
unix-ms 1000000 0
unix-us 1000 0
unix-ns 1 0
gps 1000000000 -315964800000000000
labview 1000000000 2082844800000000000
ntp 1000000000 2208988800000000000
webkit 1000 11644473600000000000
filetime 100 11644473600000000000
dotnet-ticks 100 62135596800000000000
excel 86400000000000 2209161600000000000
matlab 86400000000000 62167305600000000000
modified-julian-days 86400000000000 3506716800000000000
julian-days 86400000000000 210866760000000000000
";

/// Unix seconds at which GPS time came to be ahead of UTC by one more second, the first of them by one.
/// Source: International Earth Rotation and Reference Systems Service, Bulletin C.
const LEAPS: [i128; 18] = [
    362_793_600,
    394_329_600,
    425_865_600,
    489_024_000,
    567_993_600,
    631_152_000,
    662_688_000,
    709_948_800,
    741_484_800,
    773_020_800,
    820_454_400,
    867_715_200,
    915_148_800,
    1_136_073_600,
    1_230_768_000,
    1_341_100_800,
    1_435_708_800,
    1_483_228_800,
];

/// The leap second that ends at this time, which Unix time counts as the first second after it.
pub fn leap(time_ns: i128) -> Result<Instant, TimeFault> {
    if LEAPS.contains(&time_ns.div_euclid(SECOND)) {
        in_range(time_ns, Some("leap seconds (23:59:60), which Unix time counts as 00:00:00 of the next day"))
    } else {
        Err(NoSuchTime)
    }
}

impl Epoch {
    /// What a name says: one of the table, or "hours since 1900-01-01".
    pub fn named(name: &str) -> Option<Self> {
        if let Some(known) = EPOCHS.iter().find(|epoch| epoch.name == name) {
            return Some(known.clone());
        }
        let (unit, start) = name.split_once(" since ")?;
        let unit: Span = format!("1 {unit}").parse().ok()?;
        let unit_ns = unit.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?.as_nanos();
        Some(Self {
            name: name.to_owned(),
            unit_ns,
            before_unix_ns: -(YearMonthDay.read(start).ok()?.time_ns as i128),
        })
    }

    /// The ns since 1970 of so many ns since its own first day.
    fn unix_ns(&self, count_ns: i128) -> i128 {
        let unix_ns = count_ns.saturating_sub(self.before_unix_ns);
        if self.name != "gps" {
            return unix_ns;
        }
        unix_ns
            - (1..).zip(LEAPS).take_while(|(leaps, leap)| unix_ns >= (leap + leaps) * SECOND).count() as i128
                * SECOND
    }

    /// Reads a number, exactly, as ns since 1970. Fractions of days are rounded to the millisecond, because the programs that count days keep no more.
    pub fn read(&self, text: &str) -> Result<i128, TimeFault> {
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = format!("{whole}{fraction}").parse().map_err(|_| Shape)?;
        let exponent: u8 = exponent.parse().map_err(|_| Shape)?;
        let power = |exponent| 10_i128.checked_pow(exponent);
        let place = u32::try_from(fraction.len()).ok().and_then(power).ok_or(TooFine)?;
        let parts =
            power(exponent.into()).and_then(|power| digits.checked_mul(self.unit_ns)?.checked_mul(power));
        let parts = parts.ok_or(OutOfRange)?;
        let round_ns = if self.unit_ns == DAY { 1_000_000 } else { 1 };
        if round_ns == 1 && parts % place != 0 {
            return Err(TooFine);
        }
        Ok(self.unix_ns((parts + place * round_ns / 2).div_euclid(place * round_ns) * round_ns))
    }
}

/// Times that are plausible without further word, in ns since 1970: from 2000-01-01 to a year from now.
pub fn plausible() -> Range<i64> {
    let end = i64::try_from(Timestamp::now().as_nanosecond() + 366 * DAY).unwrap_or(i64::MAX);
    946_684_800_000_000_000..end
}
