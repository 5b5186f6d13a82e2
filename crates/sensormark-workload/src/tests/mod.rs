//! Tests of several workloads.

mod estimate;
