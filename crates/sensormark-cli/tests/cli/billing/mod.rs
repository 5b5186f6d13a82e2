//! Billing from end to end: the program is run at small sizes, with real databases; what is planted in them is caught.

mod faults;
mod messages;
mod runs;
mod support;
