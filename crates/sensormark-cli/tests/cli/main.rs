//! The program as a user meets it: real processes, wrong input, interruptions, planted faults; and each workload from end to end at small sizes, on SQLite.
//! What needs a server is in `tests/servers`.

#![cfg(feature = "sqlite")]

mod billing;
mod clean;
mod cold;
mod collect;
mod comparison;
mod devops;
mod dry_run;
mod explain;
mod faults;
mod files;
mod grown;
mod in_seconds;
mod init;
mod install_servers;
mod interruption;
mod kept_results;
mod last_screen;
mod life;
mod lost_output;
mod maintenance;
mod messages;
mod names;
mod own;
mod pasted;
mod platform;
mod prices;
mod refused;
mod replay;

mod searched;
mod sensor_operations;
mod shipped;
mod shown;
mod studies;
mod support;
mod terminal;
mod workflow;
