//! Memory that was freed goes back to the system.
//!
//! A finished trial's record takes tens of megabytes while it is judged and written. The C library keeps what was freed of it, so a coordinator of many hours
//! would hold it all that time.

/// Has the C library give back what it keeps of freed memory. Another library than glibc keeps little.
#[allow(unsafe_code)]
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: it takes a number alone, touches nothing that is in use, and may be called from any thread.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// Memory of this process that is its own, in bytes.
    fn own_bytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find(|line| line.starts_with("RssAnon:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        number.expect("a number of kB") * 1_024
    }

    #[test]
    fn freed_memory_is_no_longer_ours() {
        // Each is too small for a mapping of its own, and the last one keeps the heap from shrinking by itself.
        let mut blocks: Vec<Vec<u8>> = (0..8_000).map(|_| vec![1; 16 << 10]).collect();
        let last = blocks.pop();
        drop(blocks);
        let before = own_bytes();
        give_back();
        let less = before.saturating_sub(own_bytes());
        drop(last);
        assert!(less > 40 << 20, "{less} bytes");
    }
}
