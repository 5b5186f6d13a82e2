//! The engine over stores without a database: exact counts, honest latencies, every planted fault caught, and differences told from noise.

mod alike;
mod ceiling;
mod counts;
mod faults;
mod fixture;
mod many_hosts;
mod pacing;
mod several;
