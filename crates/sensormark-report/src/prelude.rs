//! What modules of the report name: the trials and their records, the cells of tables, and how numbers are written.

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
        disturbed::tolerated,
        field::{Arm, Field},
        keeping_up,
        number::{cell_text, thousands, times},
        options::ReportOptions,
        prices::Prices,
        ranking::{Group, Ranked, Ranking},
        requirements::{LayoutAnswer, Outcome, Requirements},
        run_report::Report,
        sections::{
            cells::{
                EMBEDDED, LOGS_APART, NO_DISK, NO_TRIAL, NOT_MEASURED, counted, each_once, exact,
                geometric_mean, largest, listed, logs_apart, mean, number, rank,
            },
            projection::own_rate,
        },
        shell::COMMAND,
        size::Readings,
        summary::{Estimate, Summary, SummaryRow},
        tables::{Block, Cell, Digits, Document, Drawing, Number, Section, Shape, Spread, TOO_FEW, Table},
        timed::timed,
        wrapping::wrap,
    },
    hdrhistogram::Histogram,
    itertools::Itertools,
    row,
    sensormark_data::{
        number::{count_text, fixed, grouped, significant},
        quantity::size_text,
        units::{Total, round_u64},
    },
    sensormark_result::{
        cost::{CRITERIA, Criterion},
        measurement::{
            disk,
            folder::ResultsFolder,
            latency::{LatencySummary, SecondHistogram, decode},
            lifecycle::TaskRecord,
            names,
            record::{
                AnswersRecord, ClassRecord, Implementation, LatencyRecord, LedgerRecord, LimitRecord,
                LoadRecord, PhaseRecord, RunRecord, Side, TrialRecord,
            },
            server::{MemoryLimitRecord, ProbeRecord, ServerRecord},
            sizes,
            statements::ShownOperation,
        },
        probe::{PhaseTotals, RoleTotals, TreeColumns},
        statistics::{
            Basis, Better, Interval, RatioTest, SIGNIFICANCE, SMALLEST_REPETITIONS, compare, summarize,
            summarize_logarithms,
        },
    },
    sensormark_store::{Durability, WriteMethod},
    sensormark_workload::own::{
        find_limit::HIGHEST_RATE,
        limit::{DISK_FOR, is_left_open},
    },
    serde::{Deserialize, Serialize},
    serde_json::{Value, json},
    std::collections::{BTreeMap, BTreeSet},
    unicode_width::UnicodeWidthStr,
};
