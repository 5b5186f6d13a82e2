//! A file system that loses on command what was not flushed, as a disk does when its power is cut.
//!
//! It shows a folder at another place (FUSE). What is written goes to the folder at once. Beside that it keeps what stood in each file at its last flush
//! (`fsync`, `fdatasync`, `msync`, or a write to a file opened with `O_SYNC` or `O_DSYNC`). A cut writes that back.
//!
//! - [`own_mounts`] gives this process mounts of its own, at its very start. So nothing of the machine's changes, and all is gone with the last process of ours.
//! - [`PowerFolder`] mounts the file system, has a process serve it, and tells that one to keep or to cut.
//! - [`serve`] is all that this process does. It is one of its own, so that nobody waits for a file of theirs while they are what serves it.
//!
//! Names are not lost: a file that was made, renamed or removed stays so. A new file that was never flushed is empty after a cut.

mod folder;
mod mounts;
mod shown;
mod unflushed;

pub use folder::{PowerFolder, serve};
pub use mounts::own_mounts;
pub use unflushed::Lost;
