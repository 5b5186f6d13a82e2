//! The devops workload from end to end: the program is run with small numbers, on a real database.

mod faults;
mod messages;
mod runs;
mod support;
