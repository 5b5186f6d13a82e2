//! The layouts that InfluxDB offers, and what it does with them itself.

use sensormark_kit::{offer, on_request};
use sensormark_store::{
    Capability, DefaultSelection, Family, FieldType, Layout, LayoutOption, Operation, QueryStyle, Schema,
    Table, WriteMethod,
};

/// The layouts for this schema and family: points batch themselves, so that records of a span have no place here.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    if family != Family::PerReading {
        return Vec::new();
    }
    let usual = Layout::row_per_reading();
    let mut datagrams = usual;
    datagrams.write = WriteMethod::Datagram;
    let mut packed = usual;
    packed.write = WriteMethod::FastPath;
    let mut flux = usual;
    flux.queries = QueryStyle::SecondLanguage;
    let flux_selection = if schema.tables.iter().any(is_of_devices) {
        DefaultSelection::Further
    } else {
        DefaultSelection::OnRequest
    };
    let mut offers = vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "a point a reading, line protocol over HTTP; asked in InfluxQL",
        ),
        offer(
            "udp",
            datagrams,
            DefaultSelection::Further,
            "a point a reading, line protocol in UDP datagrams, which nobody acknowledges; asked in InfluxQL",
        ),
        offer(
            "gzip",
            packed,
            DefaultSelection::OnRequest,
            "a point a reading, line protocol packed by gzip over HTTP; asked in InfluxQL",
        ),
        offer("flux", flux, flux_selection, "a point a reading, line protocol over HTTP; asked in Flux"),
    ];
    if schema.tables.iter().all(holds_small_numbers) {
        offers.extend(of_floats(usual, datagrams));
    }
    offers
}

/// Whole numbers as floating point fields, as study 000 wrote them.
fn of_floats(usual: Layout, datagrams: Layout) -> [LayoutOption; 2] {
    let offer = |variant: &str, layout, description: &str| {
        let layout = Layout { float_fields: true, ..layout };
        on_request(variant, layout, description)
    };
    [
        offer(
            "floats",
            usual,
            "a point a reading whose whole numbers are floating point fields, line protocol over HTTP; asked in InfluxQL",
        ),
        offer(
            "udp-floats",
            datagrams,
            "the same in UDP datagrams, which nobody acknowledges, as study 000 wrote; asked in InfluxQL",
        ),
    ]
}

/// Whether all fields are numbers of 16 bits, which floating point fields hold exactly.
fn holds_small_numbers(table: &Table) -> bool {
    table.fields.iter().all(|field| field.kind == FieldType::U16)
}

/// Whether a table is what platforms keep values of devices in: tagged, with a field for each type, of which a value fills one.
fn is_of_devices(table: &Table) -> bool {
    !table.tags.is_empty()
        && table.entity.is_none()
        && table.fields.len() > 1
        && table.fields.iter().all(|field| field.nullable)
}

/// How InfluxDB does an operation.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    let client = |reason: &str| Capability::ClientSide(reason.to_owned());
    let unsupported = |reason: &str| Capability::Unsupported(reason.to_owned());
    match operation {
        Operation::UpsertSeparately => client(
            "InfluxDB has no rows to update: an entity is a point at time 0, overwritten; the client asks once a session and series whether it is there",
        ),
        Operation::UpsertAtomically => {
            unsupported("InfluxDB has no transactions: points of one request may be stored in part")
        }
        Operation::AggregateByDayPart if layout.in_second_language() => Capability::Native,
        Operation::AggregateByDayPart => client(
            "InfluxDB groups by windows, not by time of day: it aggregates windows that both parts of the day are made of, and the client adds them up",
        ),
        Operation::TimeWeightedShare if layout.in_second_language() => client(
            "Flux's stateDuration() leaves out how long a state's last reading holds: the client fetches the readings and weighs them",
        ),
        Operation::TimeWeightedShare => client(
            "InfluxDB's integral() takes numbers alone, no truth values: the client fetches the readings and weighs them",
        ),
        Operation::MostFrequent if layout.in_second_language() => Capability::Native,
        Operation::MostFrequent => client(
            "InfluxDB's mode() gives the earliest of values that are equally frequent, not the smallest: the client fetches the readings and counts them",
        ),
        Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
            unsupported("sums are not kept at write time")
        }
        _ => Capability::Native,
    }
}
