//! The iot-platform workload from end to end: the program is run with small numbers, with SQLite.

mod faults;
mod messages;
mod runs;
mod support;
