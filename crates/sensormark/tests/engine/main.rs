//! The engine over stores without a database: exact counts, honest latencies, and every planted fault caught.

mod counts;
mod faults;
mod fixture;
mod pacing;
