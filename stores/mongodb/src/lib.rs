//! MongoDB
