//! The numbers behind the scales of workloads that are files.

use sensormark_data::iot_platform::{MOST_DAYS, MOST_HOMES};
use sensormark_data::shapes::meter::MOST_HOURS;
use sensormark_engine::parameter::{any, at_least, between, over, over_up_to, words};
use sensormark_engine::parameters;

parameters! {
    /// Numbers of slow-control.
    pub struct SlowControl {
        /// sensors that report
        sensors: u32, Plain, between(10.0, 1e6) => 1_000, 10_000, 100_000, 100_000;
        /// from one reading of a sensor to its next, in ms
        interval_ms: u32, Milliseconds, between(2.0, 3_600_000.0) => 1_000, 1_000, 1_000, 45_000;
        /// readings of a sensor that come at once, 100 ms apart, with a pause after them
        burst: u32, Plain, between(1.0, 1_000.0) => 1, 1, 1, 10;
        /// values in a reading
        dimensions: u32, Plain, between(1.0, 100.0) => 1;
        /// measured: walks within a dead band and set points in turn; or uniform, as the study's are
        values: String, Plain, words(&["measured", "uniform"]) =>
            "measured".to_owned(), "measured".to_owned(), "measured".to_owned(), "uniform".to_owned();
        /// readings in a write of one client; each number is a phase
        batches: Vec<u32>, Plain, between(1.0, 1e6) => vec![100, 1_000, 10_000], vec![100, 1_000, 10_000],
            vec![1_000, 5_000, 20_000, 100_000], vec![1_000, 5_000, 10_000, 20_000, 50_000, 100_000];
        /// numbers of clients that write; each is a phase, and the last one grows the data
        clients: Vec<u32>, Plain, between(1.0, 4_096.0) => vec![1, 4, 16], vec![1, 4, 16], vec![1, 4, 12, 48],
            vec![1, 2, 4, 8, 12, 18, 24, 36, 48];
        /// readings that each of these phases writes
        step: u64, Plain, at_least(1.0) => 20_000, 200_000, 2_000_000, 10_000_000;
        /// readings in a write of several clients
        batch: u32, Plain, between(1.0, 1e6) => 1_000, 1_000, 20_000, 20_000;
        /// the data grow to so many readings, four times each, as far as the budget goes
        grown: u64, Plain, at_least(10_000.0) => 245_760_000, 245_760_000, 100_000_000, 2_880_000_000;
        /// how long an hour of the questions is, in seconds: they are about a sixth, 1, 3 and 24 hours
        hour_seconds: f64, Seconds, over(0.0) => 8.0, 8.0, 20.0, 3_600.0;
        /// questions of each kind
        questions: u64, Plain, between(1.0, 1e6) => 10, 20, 100, 20;
        /// questions of each kind that are a phase each, so that --cache cold makes each one cold
        cold: u32, Plain, between(0.0, 1_000.0) => 0, 0, 20, 20;
        /// how long a question is asked at most, in seconds; mixed phases last three times as long
        seconds: f64, Seconds, over(0.0) => 2.0, 10.0, 60.0, 600.0;
        /// readings that are asked for with each one that is written; each number is a mixed phase
        read_to_written: Vec<f64>, Plain, over(0.0) => vec![0.33, 1.0, 3.0];
        /// readings that are written a second in mixed phases
        rate: f64, Plain, over(0.0) => 2_000.0, 10_000.0, 50_000.0, 50_000.0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 5, 3, 1;
    }
}

parameters! {
    /// Numbers of hydrometry.
    pub struct Hydrometry {
        /// stations that report for long
        stations: u32, Plain, between(5.0, 1e5) => 10;
        /// stations that report for a short time
        many: u32, Plain, between(10.0, 1e5) => 200, 200, 200, 2_000;
        /// how long, in minutes
        many_minutes: u64, Minutes, between(2.0, 1e6) => 8, 60, 480, 14_400;
        /// sensors of a station
        sensors: u32, Plain, between(2.0, 499.0) => 100;
        /// from one reading of a station to its next, in ms
        interval_ms: u32, Milliseconds, between(2.0, 3_600_000.0) => 10_000;
        /// the data of the few stations grow to so many hours, four times each, as far as the budget goes
        grown_hours: u64, Hours, between(1.0, 1e5) => 192, 768, 168, 1_440;
        /// a day of the temperatures, in minutes
        day_minutes: u64, Minutes, between(1.0, 1e6) => 30, 60, 1_440, 1_440;
        /// share of a temperature's values that are the one before again
        repeats: f64, Percent, between(0.0, 0.99) => 0.5;
        /// share of a level's values that are outliers
        outliers: f64, Percent, between(0.0, 0.99) => 0.02;
        /// share of readings that never come
        missing: f64, Percent, between(0.0, 0.99) => 0.0;
        /// standard deviation of noise on levels
        noise: f64, Plain, between(0.0, 1.0) => 0.01;
        /// minutes of a station that show what data do to the disk: as they are, with 95 % repeats, 20 % outliers, half of the readings missing, and noise of 0.3; 0 for none
        disk_minutes: u64, Minutes, between(0.0, 1e6) => 0, 1_000, 10_000, 10_000;
        /// how many sensors a question is about; the first number holds where others vary
        asked_sensors: Vec<u32>, Plain, at_least(1.0) => vec![10, 1, 100], vec![10, 1, 100], vec![10, 1, 50, 100], vec![10, 1, 50, 100];
        /// how much time, in minutes
        asked_minutes: Vec<u64>, Minutes, at_least(1.0) => vec![60, 10], vec![60, 360], vec![1_440, 60, 10_080], vec![1_440, 60, 43_200];
        /// questions of each kind
        questions: u64, Plain, between(1.0, 1e6) => 10, 30, 100, 100;
        /// how long a question is asked at most, in seconds; phases at a rate of writing last three times as long
        seconds: f64, Seconds, over(0.0) => 1.0, 10.0, 60.0, 200.0;
        /// values that are written a second while questions are asked; each number is a phase
        rates: Vec<u64>, Plain, at_least(1.0) => vec![10_000, 100_000], vec![10_000, 100_000, 400_000],
            vec![10_000, 20_000, 200_000, 600_000, 1_000_000, 1_400_000];
        /// questions of each kind that are due a second meanwhile
        asked_rate: f64, Plain, over(0.0) => 2.0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 5, 3, 1;
    }
}

/// Most readings that a test of sensor-operations may write.
const LARGEST_TEST: f64 = 4e9;
/// What nobody reaches in a short run.
const MOST_GROWN: u64 = 400_000_000;

parameters! {
    /// Numbers of sensor-operations.
    pub struct SensorOperations {
        /// sensors that report
        sensors: u32, Plain, between(1.0, 1e6) => 100;
        /// from one reading of a sensor to its next, in ms of its timestamps
        interval_ms: u32, Milliseconds, between(1.0, 3_600_000.0) => 30_000;
        // Without an index each single read passes over all that was written, so its time grows by the square of `single`.
        /// readings that a test of single operations writes, then reads
        single: u64, Plain, between(1.0, LARGEST_TEST) => 2_000, 18_000, 100_000, 1_000_000;
        /// readings that a test of multi operations writes, then reads
        multi: u64, Plain, between(1.0, LARGEST_TEST) => 20_000, 200_000, 1_000_000, 10_000_000;
        /// after the tests the data grow from `multi` to so many readings, four times each, as far as the budget goes; 0: they do not
        grown: u64, Plain, between(0.0, LARGEST_TEST) => MOST_GROWN, MOST_GROWN, 0, 0;
        /// readings in a multi operation
        batch: u64, Plain, between(1.0, 1e6) => 1_000;
        /// numbers of clients; each is a test of its own
        clients: Vec<u32>, Plain, between(1.0, 4_096.0) =>
            vec![1, 4, 16], vec![1, 4, 16], vec![1, 2, 4, 8, 12, 16], vec![1, 2, 4, 8, 12, 16];
        /// whether one client does smaller tests too (1, 10, 100… operations)
        sweep: bool, Plain, any() => true;
        /// layouts where the user may choose: both, with, without an index on (sensor, time)
        index: String, Plain, words(&["both", "with", "without"]) => "both".to_owned();
        /// how a multi write travels: usual, or all ways that the store has
        statements: String, Plain, words(&["usual", "all"]) =>
            "usual".to_owned(), "usual".to_owned(), "usual".to_owned(), "all".to_owned();
        /// whether the database is brought to rest between writing and reading
        settle: bool, Plain, any() => false;
        /// when a phase is cut, in seconds
        limit_seconds: f64, Seconds, over(0.0) => 60.0, 60.0, 60.0, 600.0;
        /// one of so many answers is compared in full; the length of every one is
        check_one_in: u32, Plain, between(1.0, 1e6) => 1, 20, 20, 20;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 5, 3, 1;
    }
}

/// What nobody reaches in a short run.
const MOST_DEVICES: u32 = 131_072;

parameters! {
    /// Numbers of billing.
    pub struct Billing {
        /// devices loaded, then billed; several numbers, ascending, to see how bills slow down: devices=160,320
        devices: Vec<u32>, Plain, between(1.0, 1e6) => vec![16], vec![16], vec![160], vec![1_600, 4_000, 6_400];
        /// the data then grow to so many devices, four times each, as far as the budget goes; 0: they do not
        grown: u32, Plain, between(0.0, 1e6) => MOST_DEVICES, MOST_DEVICES, 0, 0;
        /// seconds that bills are asked for at a further size
        grown_seconds: f64, Seconds, over(0.0) => 5.0;
        /// devices loaded first without being billed, which gives the study's rate of ingest: 160, one a client; fewer than devices, 0 for none
        ingest_devices: u32, Plain, any() => 0, 0, 0, 160;
        /// whether each number of devices begins with an empty database, as the study has it (true), or grows from the one before (false)
        emptied: bool, Plain, any() => false;
        /// readings of each device, one an hour from 2018 on; 8760 is a year
        records: u64, Hours, between(1.0, MOST_HOURS as f64) => 744, 744, 8_760, 8_760;
        /// clients, each with a connection of its own and one device at a time; devices are multiples of it
        clients: u32, Plain, between(1.0, 4_096.0) => 16, 16, 160, 160;
        /// processes that clients are spread over evenly
        /// (the study's are 5 of 32 clients; 1 where a database lets one process have it open)
        processes: u32, Plain, at_least(1.0) => 1, 1, 5, 5;
        /// whether a meter's update and its reading are one commit (true) or two, as the study has it (false)
        atomic: bool, Plain, any() => false;
        /// the month that is billed, 1 to 120; 13 is the January of the second year
        bill_month: u32, Plain, between(1.0, 120.0) => 1, 1, 7, 7;
        /// how often each device is billed; the study's number is 1
        bill_rounds: u32, Plain, between(1.0, 4_000.0) => 60, 60, 10, 1;
        /// after so many seconds a phase is cut, and shown as cut; 0 for never
        limit_seconds: u32, Seconds, any() => 60, 60, 1_800, 0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 5, 3, 3;
    }
}

/// Days of the study: from 27 September 2021 to 9 December 2022.
const STUDY_DAYS: u32 = 438;
/// Families of layouts of iot-platform.
const HOME_LAYOUTS: [&str; 4] = ["flat", "bucketed", "summary", "array"];
/// Its queries, in the order in which they are asked.
const HOME_QUERIES: [&str; 12] = [
    "raw",
    "raw-without-days",
    "hourly",
    "daily",
    "daily-sums",
    "day-night",
    "day-night-sums",
    "total",
    "total-sums",
    "chart",
    "statistics",
    "latest",
];

fn all(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

parameters! {
    /// Numbers of iot-platform. The study's are those of `standard`: it is small.
    pub struct IotPlatform {
        /// homes, each with the same twelve devices
        homes: u32, Plain, between(1.0, MOST_HOMES as f64) => 1;
        /// days of data, from 2021-09-27; about 12,771 values a home and day
        days: u32, Days, between(1.0, MOST_DAYS as f64) => 30, 365, STUDY_DAYS, STUDY_DAYS;
        /// the data then grow to so many days, four times each, as far as the budget goes; 0: they do not
        grown: u32, Days, between(0.0, MOST_DAYS as f64) => MOST_DAYS, MOST_DAYS, 0, 0;
        /// seconds that each question is asked at a further size
        grown_seconds: f64, Seconds, over(0.0) => 5.0, 20.0, 20.0, 20.0;
        /// messages written one by one, into a database of their own; 0 for none
        messages: u64, Plain, between(0.0, 10_000_000.0) => 1_000, 10_000, 20_000, 20_000;
        /// after them so long more messages come, while questions are asked; 0: never
        live_seconds: f64, Seconds, at_least(0.0) => 3.0, 10.0, 30.0, 60.0;
        /// messages a second that then come
        live_rate: f64, Plain, at_least(0.0) => 100.0;
        /// readings in a batch of the load, in whole hours of a home; 0 for what its documentation advises
        batch: u64, Plain, between(0.0, 10_000_000.0) => 0;
        /// clients that write
        clients: u32, Plain, between(1.0, 10_000.0) => 1;
        /// days that queries reach over, like 1,7,30
        spans: Vec<u32>, Days, at_least(1.0) => vec![1, 7, 30], vec![1, 7, 30, 90], vec![1, 7, 30, 90, 365], vec![1, 7, 30, 90, 365];
        /// days that the statistics of a device's properties reach over
        statistics: Vec<u32>, Days, at_least(1.0) => vec![1, 7], vec![1, 30], vec![1, 30], vec![1, 30];
        /// the most points of a chart of the last 24 hours
        points: u32, Plain, between(1.0, 100_000.0) => 500;
        /// questions of each query and span, each about another stretch of time
        questions: u64, Plain, between(1.0, 1e9) => 10, 20, 20, 20;
        /// values in a full document of the layout bucketed
        bucket: u32, Plain, between(1.0, 100_000.0) => 200;
        /// the hour (UTC) at which day begins; means by day and by night depend on it
        day_begins: u32, Plain, between(0.0, 23.0) => 6;
        /// the hour (UTC) at which night begins
        day_ends: u32, Plain, between(1.0, 24.0) => 22;
        /// families of layouts: flat, bucketed, summary, array
        layouts: Vec<String>, Plain, words(&HOME_LAYOUTS) => all(&HOME_LAYOUTS);
        /// layouts measured unasked beside each family's usual one, like flat-no-index
        variants: Vec<String>, Plain, any() => all(&["bucketed-no-index", "flat-flux"]);
        /// the queries that are asked
        queries: Vec<String>, Plain, words(&HOME_QUERIES) => all(&HOME_QUERIES);
        /// seconds after which a phase is cut
        limit: u32, Seconds, between(1.0, 1_000_000.0) => 60, 300, 1_800, 1_800;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 1_000.0) => 1, 5, 5, 5;
    }
}

/// Hours of data at each size, each four times the one before.
const GROWN: [f64; 6] = [4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0];
/// What walks do at their bounds.
const WALKS: [&str; 2] = ["clamped", "reflected"];
/// Families of layouts of devops.
const FAMILIES: [&str; 2] = ["individual", "buckets"];

parameters! {
    /// Numbers of devops.
    pub struct Devops {
        /// hosts that report, 101 values each every 10 s
        hosts: u32, Plain, at_least(1.0) => 10, 100, 100, 100;
        /// hours of data that are loaded and asked about
        hours: f64, Hours, over(0.0) => 4.0, 1.0, 6.0, 24.0;
        /// the data then goes on to these hours, with the most workers, and everything is asked at each; the budget says how many are reached
        more_hours: Vec<f64>, Hours, over(0.0) => GROWN[1..].to_vec(), GROWN.to_vec(), vec![24.0], vec![48.0, 72.0, 96.0];
        /// so long questions are asked while data come, after the first load; 0: never
        live_seconds: f64, Seconds, at_least(0.0) => 3.0, 10.0, 30.0, 60.0;
        /// data then come so many times as fast as hosts report
        live_speed: f64, Plain, at_least(0.0) => 100.0;
        /// what walks do at their bounds: clamped (as published) or reflected
        walk: String, Plain, words(&WALKS) => WALKS[0].to_owned();
        /// clients that load, each number into an empty database
        workers: Vec<u32>, Plain, at_least(1.0) => vec![4], vec![1, 4, 16], vec![1, 2, 4, 8, 16], vec![1, 2, 4, 8, 16];
        /// readings in a write; 0: what the store's documentation advises
        batch: u64, Plain, any() => 0;
        /// so many times the advised readings are in a write
        batch_times: f64, Plain, over_up_to(0.0, 1_000.0) => 1.0;
        /// questions of each kind and number of clients
        queries: u64, Plain, at_least(1.0) => 200, 400, 1_000, 1_000;
        /// clients that ask; numbers between the first and last ask the study's question alone
        clients: Vec<u32>, Plain, at_least(1.0) => vec![1, 4], vec![1, 4, 16], vec![1, 4, 16], vec![1, 2, 4, 8, 16];
        /// window of 1 and several hosts' maxima and of busy hosts, min
        short_minutes: u64, Minutes, at_least(1.0) => 15, 15, 60, 60;
        /// window of 1 host's maxima, the long one, min
        long_minutes: u64, Minutes, at_least(1.0) => 45, 45, 300, 720;
        /// hosts of the question about several
        several_hosts: u32, Plain, at_least(1.0) => 8;
        /// window of the means of all hosts, min
        mean_minutes: u64, Minutes, at_least(1.0) => 45, 45, 300, 1_440;
        /// a mean is of so many minutes
        mean_step_minutes: u64, Minutes, at_least(1.0) => 10, 10, 60, 60;
        /// a host is busy when usage_user is over this, percent
        threshold: f64, Percent, over_up_to(0.0, 100.0) => 90.0;
        /// one of so many answers is compared in full; every one's length is
        check_one_in: u64, Plain, at_least(1.0) => 1, 20, 20, 20;
        /// a load is cut after this, s; 0: never
        load_seconds: f64, Seconds, at_least(0.0) => 60.0, 60.0, 300.0, 0.0;
        /// questions of one kind are cut after this, s; 0: never
        query_seconds: f64, Seconds, at_least(0.0) => 5.0, 20.0, 60.0, 0.0;
        /// families of layouts: individual, buckets
        layouts: Vec<String>, Plain, words(&FAMILIES) => vec![FAMILIES[0].to_owned()];
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 3, 1;
    }
}

parameters! {
    /// Numbers of year.
    pub struct Year {
        /// sensors that report
        sensors: u32, Plain, between(1.0, 1e6) => 100, 1_000, 1_000, 1_000;
        /// from one reading of a sensor to its next, in minutes
        interval_minutes: u64, Minutes, between(1.0, 1_440.0) => 360, 180, 30, 30;
        /// how much time the readings span, in days
        days: u64, Plain, between(8.0, 10_000.0) => 364;
        /// from one round of tasks to the next, in days of the readings' time
        round_days: u64, Plain, between(1.0, 10_000.0) => 28, 7, 7, 7;
        /// how long readings are kept, in days
        keep_days: u64, Plain, between(1.0, 10_000.0) => 84, 91, 91, 91;
        /// share of readings that come late
        late: f64, Percent, between(0.0, 0.5) => 0.01;
        /// how late at most, in days
        late_days: u64, Plain, between(1.0, 10_000.0) => 7;
        /// share of readings that come when their time is no longer kept
        stale: f64, Percent, between(0.0, 0.5) => 0.001;
        /// clients that write
        clients: u32, Plain, between(1.0, 4_096.0) => 1;
        /// readings in a write
        batch: u32, Plain, between(10.0, 1e6) => 100, 1_000, 1_000, 1_000;
        /// readings that are written a second
        rate: f64, Plain, over(0.0) => 6_000.0, 10_000.0, 10_000.0, 10_000.0;
        /// questions of each kind a second
        questions: f64, Plain, over(0.0) => 20.0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 3, 1, 1;
    }
}
