//! The program as a user meets it: real processes, wrong input, interruptions, planted faults; and each workload from end to end at small sizes, on SQLite.
//! What needs a server is in `tests/servers`.

#![cfg(feature = "sqlite")]

mod billing;
mod cold;
mod devops;
mod explain;
mod faults;
mod files;
mod install_servers;
mod interruption;
mod kept_results;
mod last_screen;
mod messages;
mod own;
mod platform;
mod replay;
mod sensor_operations;
mod serve;
mod studies;
mod support;
