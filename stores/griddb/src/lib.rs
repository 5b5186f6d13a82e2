//! GridDB
