//! Numbers of a meter's streams of random values.

pub const BASE: u64 = 0;
pub const BEFORE: u64 = 1;
pub const JITTER: u64 = 2;
pub const ERRORS: [u64; 2] = [3, 4];
/// Of what its entity says.
pub const CONTACT: u64 = 5;
