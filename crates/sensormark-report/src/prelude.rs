//! What nearly every module of the report names: the trials, the cells of tables, and how numbers are written.

/// A figure, where it is known.
pub(crate) type Known = Option<f64>;

/// A row of cells; words, counts and figures become cells.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::tables::Cell::from($cell)),*] };
}

pub(crate) use {
    crate::{
        clean::clean,
        costs::Costs,
        criteria::{self, figure},
        field::{Arm, Field},
        keeping_up,
        number::{cell_text, times},
        options::ReportOptions,
        prices::Prices,
        ranking::{Ranked, Ranking},
        run_report::Report,
        sections::{
            cells::{
                EMBEDDED, LOGS_APART, NO_DISK, counted, each_once, exact, geometric_mean, joined, largest, listed, logs_apart, mean,
                number, rank,
            },
            projection::own_rate,
        },
        size::Readings,
        summary::Summary,
        tables::{Block, Cell, Digits, Document, Drawing, Number, Section, Shape, Spread, TOO_FEW, Table},
        timed::timed,
        wrapping::wrap,
    },
    row,
    sensormark_data::{
        number::{count_text, fixed, significant},
        units::{Total, round_u64},
    },
    sensormark_result::{
        cost::{CRITERIA, Criterion},
        measurement::{
            disk,
            folder::ResultsFolder,
            latency::{LatencySummary, SecondHistogram, decode},
            names,
            record::{
                Implementation, LatencyRecord, LimitRecord, LoadRecord, PhaseRecord, RunRecord, Side, TrialRecord,
            },
            server::ServerRecord,
            sizes,
        },
        probe::{PhaseTotals, RoleTotals},
        statistics::{
            Basis, Better, Interval, SIGNIFICANCE, SMALLEST_REPETITIONS, summarize, summarize_logarithms,
        },
    },
    sensormark_store::{Durability, WriteMethod},
    serde::{Deserialize, Serialize},
    serde_json::{Value, json},
    std::collections::{BTreeMap, BTreeSet},
    unicode_width::UnicodeWidthStr,
};
