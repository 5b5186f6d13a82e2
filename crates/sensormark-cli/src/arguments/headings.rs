//! Headings of options in help texts.

pub const LOAD: &str = "What is measured";
pub const SERVERS: &str = "Servers that sensormark starts";
pub const HOSTS: &str = "Other hosts";
pub const MEASURING: &str = "How it is measured";
pub const OUTPUT: &str = "Results";
pub const ANSWERS: &str = "Answers, which are not asked for then";
