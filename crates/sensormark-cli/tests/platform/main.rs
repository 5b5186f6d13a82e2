//! The iot-platform workload from end to end: the program is run with small numbers, with SQLite.

#![cfg(feature = "sqlite")]

mod faults;
mod messages;
mod runs;
mod support;
