//! The program as a user meets it: real processes, real databases, wrong input, interruptions, planted faults.

mod compare;
mod existing_server;
mod faults;
mod files;
mod interruption;
mod messages;
mod replay;
mod sensor_operations;
mod serve;
mod support;
