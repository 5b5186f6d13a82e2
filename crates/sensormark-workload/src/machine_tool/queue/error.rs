//! What can go wrong with a queue, and which of it means that the queue is gone.

use std::path::PathBuf;

/// What can go wrong with a queue.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The queue is gone: its owner removed it, or it never was.
    #[error("the message queue was removed")]
    Removed,
    /// A message that no source of ours sent.
    #[error("the message queue holds a message that is no reading (type {kind}, {length} bytes)")]
    Foreign {
        /// The message's type.
        kind: i64,
        /// The bytes of its text.
        length: usize,
    },
    /// A sequence number that a message's type cannot carry.
    #[error("sequence number {0} does not fit into a message's type")]
    Sequence(u64),
    /// The kernel refused.
    #[error("{operation} on the message queue: {source}")]
    System {
        /// The system call.
        operation: &'static str,
        /// The kernel's reason.
        source: std::io::Error,
    },
    /// A file about a queue's owner cannot be read, written or removed.
    #[error("the message queue's record {path}: {source}")]
    Record {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

/// Whether the queue is not there any more.
fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIDRM | libc::EINVAL))
}

/// Why a call on a queue did not succeed.
pub(super) fn refused(operation: &'static str, source: std::io::Error) -> QueueError {
    if is_gone(&source) { QueueError::Removed } else { QueueError::System { operation, source } }
}

/// The result of a call on a queue that may be gone already, which is no error then.
pub(super) fn ignore_gone<T>(result: std::io::Result<T>) -> Result<Option<T>, QueueError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(source) => Err(QueueError::System { operation: "msgctl", source }),
    }
}
