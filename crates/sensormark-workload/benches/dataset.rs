//! How fast data sets are made: values a second on one core, into columns and one by one.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sensormark_data::iot_platform::{self, Homes};
use sensormark_data::machine_tool::{CHANNELS, MachineTool};
use sensormark_data::random::{Stream, Streams};
use sensormark_data::shapes::{meter::Meter, temperature::Temperature};
use sensormark_store::Batch;

fn machine_tool(criterion: &mut Criterion) {
    const SAMPLES: usize = 100_000;
    let machine = MachineTool::new(42);
    let mut group = criterion.benchmark_group("machine_tool");
    group.throughput(Throughput::Elements((SAMPLES * CHANNELS) as u64));
    let mut columns: [Vec<u16>; CHANNELS] = std::array::from_fn(|_| vec![0; SAMPLES]);
    group.bench_function("fill", |bencher| {
        bencher.iter(|| {
            for (channel, column) in columns.iter_mut().enumerate() {
                machine.fill(std::hint::black_box(777), channel, column);
            }
        });
    });
    group.bench_function("sample", |bencher| {
        bencher.iter_batched(
            || 0..SAMPLES as u64,
            |indices| indices.map(|index| u64::from(machine.sample(index)[0])).sum::<u64>(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn random(criterion: &mut Criterion) {
    const VALUES: u64 = 100_000;
    let stream = Stream::new(42, 1, 2);
    let mut group = criterion.benchmark_group("random");
    group.throughput(Throughput::Elements(VALUES));
    group.bench_function("word", |bencher| {
        bencher.iter(|| (0..VALUES).fold(0, |sum, index| sum ^ stream.word(index)));
    });
    group.bench_function("normal", |bencher| {
        bencher.iter(|| (0..VALUES).map(|index| stream.normal(index)).sum::<f64>());
    });
    group.finish();
}

fn iot_platform(criterion: &mut Criterion) {
    const HOURS: u64 = 24;
    let homes = Homes::new(42, 1);
    let schema = iot_platform::schema(1);
    let mut batch = Batch::new(0, &schema.tables[0]);
    homes.push_hours(0, 240..240 + HOURS, &mut batch);
    let mut group = criterion.benchmark_group("iot_platform");
    group.throughput(Throughput::Elements(batch.len() as u64));
    group.bench_function("push_hours", |bencher| {
        bencher.iter(|| {
            batch.clear();
            homes.push_hours(0, std::hint::black_box(240)..240 + HOURS, &mut batch);
            batch.len()
        });
    });
    group.finish();
}

/// A month of a meter's readings, nine values each.
fn meters(criterion: &mut Criterion) {
    const HOURS: u64 = 744;
    let mut group = criterion.benchmark_group("meter");
    group.throughput(Throughput::Elements(HOURS * 9));
    group.bench_function("month", |bencher| {
        bencher.iter(|| {
            let meter = Meter::new(Streams::new(std::hint::black_box(42), 0));
            let values =
                (0..9).flat_map(|field| (0..HOURS).map(move |hour| meter.value(field, hour).float()));
            values.sum::<f64>()
        });
    });
    group.finish();
}

fn temperature(criterion: &mut Criterion) {
    const READINGS: u64 = 100_000;
    let sensor = Temperature::new(Streams::new(42, 7), 0);
    let mut group = criterion.benchmark_group("temperature");
    group.throughput(Throughput::Elements(READINGS));
    group.bench_function("at", |bencher| {
        bencher.iter(|| (0..READINGS).map(|tick| sensor.at(tick)).sum::<f64>());
    });
    group.finish();
}

criterion_group!(benches, machine_tool, temperature, iot_platform, meters, random);
criterion_main!(benches);
