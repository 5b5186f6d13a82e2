//! How fast data sets are written as text: values a CPU-second, from columns that are there and with their generation.
//!
//! CPU time of the thread is measured, not time on the wall, so that the figures hold on a busy machine.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sensormark_data::export::{DataRequest, DataSet, ExportOptions, Format, Shard, export};
use sensormark_data::machine_tool::{MachineTool, schema};
use sensormark_data::random::Stream;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_store::{
    Batch, Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Values,
};
use sensormark_workload::shipped::DEVOPS;

const HOSTS: usize = 100;
const ROWS: usize = 1_000;
const FIELDS: usize = 10;

/// All formats.
const ALL: [Format; 3] = [Format::LineProtocol, Format::Csv, Format::Json];

/// One batch of some hosts' counters and shares, given ten times over.
fn hosts(kind: FieldType) -> DataSet {
    let names = ["region", "service", "hostname"];
    let tag = |name: &str| (0..HOSTS).map(|host| format!("{name}_{host}")).collect();
    let field = |number: usize| Field { name: format!("measured_{number}"), kind, nullable: false };
    let table = Table {
        name: "measurement".into(),
        tags: names.map(|name| Tag { name: name.into() }).to_vec(),
        fields: (0..FIELDS).map(field).collect(),
        entity: None,
        time_resolution: TimeResolution::Seconds,
        series: Series::new(names.map(|name| TagColumn::Text(tag(name))).to_vec()),
    };
    let mut batch = Batch::new(0, &table);
    let rows = 0..u32::try_from(ROWS).expect("few rows");
    batch.series = rows.clone().map(|row| row % 100).collect();
    batch.times_ns =
        (rows.clone()).map(|row| 1_700_000_000_000_000_000 + i64::from(row) * 100_000_000).collect();
    for (number, column) in batch.columns.iter_mut().enumerate() {
        let stream = Stream::new(1, 0, number as u64);
        let rows = (0..ROWS as u64).map(|row| stream.normal(row));
        match &mut column.values {
            Values::I64(values) => {
                values.extend((0..ROWS as u64).map(|row| stream.within(row, 0..=9_999_999)))
            }
            Values::F64(values) => values.extend(rows.map(|value| 50.0 + 10.0 * value)),
            _ => unreachable!("hosts count and share"),
        }
    }
    DataSet::new(Schema { tables: vec![table] }, move |_shard, sink| {
        (0..10).try_for_each(|_| sink.put(0, |again| again.clone_from(&batch)))
    })
}

/// CPU time of the calling thread.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(now).expect("CPU time is not negative")
    }

    fn end(&self, start: Duration) -> Duration {
        self.start() - start
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn measure(criterion: &mut Criterion<CpuTime>, name: &str, data: &DataSet, values: u64, formats: &[Format]) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(values));
    for &format in formats {
        let options = ExportOptions { format, shard: Shard::WHOLE, table: None };
        group.bench_function(format!("{format:?}"), |bencher| {
            bencher.iter(|| {
                let summary = export(black_box(data), &options, Some("/dev/null".as_ref()));
                let summary = summary.expect("it takes all").expect("nobody leaves");
                assert_eq!(summary.values, values);
            });
        });
    }
    group.finish();
}

fn exports(criterion: &mut Criterion<CpuTime>) {
    let samples = MachineTool::new(42).data_set(
        schema(TimeResolution::Milliseconds),
        1_700_000_000_000_000_000,
        1_000_000,
        100_000,
    );
    measure(criterion, "export/machine_tool_generated", &samples, 500_000, &ALL);
    let values = (ROWS * FIELDS * 10) as u64;
    measure(criterion, "export/integers", &hosts(FieldType::I64), values, &ALL);
    measure(criterion, "export/floats", &hosts(FieldType::F64), values, &ALL);
}

/// A hundred hosts' measurements, generated: into columns alone, and written.
fn devops(criterion: &mut Criterion<CpuTime>) {
    const TICKS: u64 = 60;
    for (name, walk) in [("devops_clamped", "clamped"), ("devops_reflected", "reflected")] {
        let mut numbers = DEVOPS.preset(Scale::Study).expect("a scale");
        numbers["walk"] = walk.into();
        let request = DataRequest { duration_ns: Some(600_000_000_000), ..DataRequest::of(42) };
        let data = DEVOPS.data_set(&numbers, &request).expect("data");
        let values = TICKS * 100 * 101;
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(values));
        group.bench_function("columns", |bencher| {
            bencher.iter(|| {
                let mut readings = 0;
                let read = data.each_batch(Shard::WHOLE, |batch| {
                    readings += black_box(batch).len();
                    Ok(())
                });
                read.expect("nothing fails");
                assert_eq!(readings, 60 * 100 * 9);
            });
        });
        group.finish();
        measure(criterion, name, &data, values, &[Format::LineProtocol, Format::Json]);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = exports, devops
}
criterion_main!(benches);
