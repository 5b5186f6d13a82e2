//! The statements of every layout, held to the text in `tests/pins/schema.txt` and to the order of the series' key.

use super::{PhysicalSchema, layout_options::layouts};
use sensormark_conformance::pins::pin;
use sensormark_store::{Family, Schema, TimeResolution};
use std::sync::Arc;

#[test]
fn statements_are_as_kept() {
    pin(env!("CARGO_MANIFEST_DIR"), layouts, |schema, offer| {
        let physical = PhysicalSchema::new(schema, offer.layout).expect("an offered layout");
        physical.commands().iter().map(ToString::to_string).collect()
    });
}

#[test]
fn a_bucket_spans_the_unit_nearest_to_the_interval() {
    const SECOND: i64 = 1_000_000_000;
    let granularity = |interval_ns: i64| {
        let mut schema = Schema::of_sensors([1, 2], TimeResolution::Milliseconds);
        schema.tables[0].series = schema.tables[0].series.clone().every(interval_ns);
        let offers = layouts(&schema, Family::PerReading);
        let offer = offers.iter().find(|offer| offer.variant == "time-series");
        let layout = offer.expect("time-series collections").layout;
        let physical = PhysicalSchema::new(&Arc::new(schema), layout).expect("an offered layout");
        let create = &physical.commands()[0];
        let options = create.get_document("timeseries").expect("its options");
        options.get_str("granularity").ok().map(str::to_owned)
    };
    assert_eq!(granularity(0), None);
    for (interval_ns, expected) in [
        (SECOND / 1_000, "seconds"),
        (10 * SECOND, "seconds"),
        (30 * SECOND, "seconds"),
        (60 * SECOND, "minutes"),
        (900 * SECOND, "minutes"),
        (3_600 * SECOND, "hours"),
        (86_400 * SECOND, "hours"),
    ] {
        assert_eq!(granularity(interval_ns).as_deref(), Some(expected), "{interval_ns}");
    }
}
