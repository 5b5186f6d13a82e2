//! Checks that fail in words.

/// Fails with these words unless it holds.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err(format!($($words)+));
        }
    };
}
