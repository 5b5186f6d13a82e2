//! The program as a user meets it: real processes, real databases, wrong input, interruptions, planted faults; and each workload from end to end at small sizes.

#![cfg(feature = "sqlite")]

mod billing;
mod cold;
mod compare;
mod devops;
mod existing_server;
mod explain;
mod faults;
mod files;
mod interruption;
mod messages;
mod own;
mod platform;
mod replay;
mod sensor_operations;
mod serve;
mod several_servers;
mod studies;
mod support;
