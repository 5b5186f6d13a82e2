//! The network between client and server: what each end put on the wire, what was sent again, and how long a round trip took.

use crate::prelude::*;

/// The ends of a connection, as rows.
const ENDS: [&str; 2] = ["client", "server"];
/// What an end has, in the order of the columns.
const FIGURES: [Figure; 4] = [
    (|role| Some(role.sent_wire_bytes? as f64 / 1e6), true),
    (|role| Some(role.received_wire_bytes? as f64 / 1e6), true),
    (|role| role.retransmitted_segments.map(|segments| segments as f64), true),
    (|role| role.mean_round_trip_ns.map(|round_trip| round_trip as f64 / 1e3), false),
];
/// A figure of an end, and whether it is a sum over phases.
type Figure = (fn(&RoleTotals) -> Known, bool);

/// The table; empty where no retransmission and no round trip was recorded.
pub fn table(field: &Field) -> Table {
    let ends = field.all().cartesian_product(ENDS).filter_map(|((side, arm), end)| {
        let figures = FIGURES.map(|of| field.figures(arm, |trial| over_phases(trial, end, of)));
        let is_known = figures[2..].iter().flatten().any(Option::is_some);
        let cells = figures.map(|values| mean(&values, NOT_MEASURED));
        is_known.then(|| [&row![&arm.label, side, end][..], &cells].concat())
    });
    Table::new("network", "Network between client and server", "implementation; side; end | sent [MB]; received [MB]; sent again [segments]; round trip [µs]").with(ends).noted("Over the measured phases of valid trials. Bytes are those on the wire, with headers. Retransmissions are TCP segments that were sent more than once. The round-trip time is the mean of what the kernel keeps for each connection. A server's end is that of all its connections.")
}

/// A figure of one end over the measured phases: their sum, or the mean of round trips.
fn over_phases(trial: &TrialRecord, end: &str, (figure, is_sum): Figure) -> Known {
    let totals = trial
        .phases
        .iter()
        .filter(|phase| is_measured(trial, phase))
        .filter_map(|phase| phase.totals.as_ref());
    let values =
        totals
            .filter_map(|totals| {
                if end == "client" { criteria::client_in(trial, totals) } else { totals.roles.get(end) }
            })
            .filter_map(figure)
            .collect_vec();
    let over = if is_sum { 1 } else { values.len() };
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / over as f64)
}

/// Whether clients were at work in it and what they did counts.
fn is_measured(trial: &TrialRecord, phase: &PhaseRecord) -> bool {
    let mut loads = trial.loads.iter();
    criteria::is_measured(phase) || loads.any(|load| load.phase == phase.name && !load.warm_up)
}
