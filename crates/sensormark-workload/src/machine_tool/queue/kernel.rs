//! The foreign calls of System V message queues (msgget, msgsnd, msgrcv, msgctl), each behind a safe function.
//!
//! The only unsafe code of the workload. It decides nothing: meaning is given to messages in `queue`.

#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::mem::{MaybeUninit, size_of};
use std::ptr::from_mut;

use libc::{c_int, c_long, key_t};

/// Bytes of the longest message's text.
pub const TEXT_BYTES: usize = 10;

/// A message as the kernel takes and gives it: its type, then its text.
#[repr(C)]
struct Buffer {
    kind: c_long,
    text: [u8; TEXT_BYTES],
}

/// A message that was received: its type, its text and how many bytes of the text count.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub kind: c_long,
    pub text: [u8; TEXT_BYTES],
    pub length: usize,
}

/// Does a call wait for room or for a message?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Never,
    Forever,
}

/// What IPC_STAT tells, as far as it is used.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    pub capacity_bytes: u64,
    pub messages: u64,
    pub last_sent_unix_s: i64,
    pub creator_uid: u32,
    pub last_sender_pid: i32,
    pub last_receiver_pid: i32,
}

/// Makes a new queue under a key, which only this user may open; EEXIST when there is one.
pub fn create(key: key_t) -> Result<c_int> {
    // SAFETY: msgget takes no pointers.
    checked(unsafe { libc::msgget(key, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) })
}

/// The queue under a key; ENOENT when there is none.
pub fn find(key: key_t) -> Result<c_int> {
    // SAFETY: msgget takes no pointers.
    checked(unsafe { libc::msgget(key, 0) })
}

/// Sends a text of at most [`TEXT_BYTES`] without waiting; EAGAIN when the queue is full.
pub fn send(queue: c_int, kind: c_long, text: &[u8]) -> Result<()> {
    let mut buffer = Buffer { kind, text: [0; TEXT_BYTES] };
    buffer.text[..text.len()].copy_from_slice(text);
    // SAFETY: the buffer is a type followed by text.len() ≤ TEXT_BYTES initialised bytes (else the line above panics),
    // outlives the call, and is only read.
    checked(unsafe { libc::msgsnd(queue, (&raw const buffer).cast(), text.len(), libc::IPC_NOWAIT) })
        .map(drop)
}

/// Takes the oldest message; ENOMSG when there is none and the call does not wait, E2BIG when it is not one of ours.
pub fn receive(queue: c_int, wait: Wait) -> Result<Message> {
    let mut buffer = Buffer { kind: 0, text: [0; TEXT_BYTES] };
    let flags = match wait {
        Wait::Never => libc::IPC_NOWAIT,
        Wait::Forever => 0,
    };
    // SAFETY: the buffer has room for a type and TEXT_BYTES bytes, any bytes are valid in it, and it outlives the call.
    // Without MSG_NOERROR a longer message is refused, not cut.
    let received = unsafe { libc::msgrcv(queue, from_mut(&mut buffer).cast(), TEXT_BYTES, 0, flags) };
    let length = usize::try_from(received).map_err(|_| Error::last_os_error())?;
    Ok(Message { kind: buffer.kind, text: buffer.text, length })
}

/// Reads a queue's state.
pub fn status(queue: c_int) -> Result<Status> {
    let mut status = MaybeUninit::<libc::msqid_ds>::zeroed();
    // SAFETY: the pointer is to a whole msqid_ds that outlives the call, which fills it.
    checked(unsafe { libc::msgctl(queue, libc::IPC_STAT, status.as_mut_ptr()) })?;
    // SAFETY: it was zeroed, all its fields are integers, and the call has filled it.
    let status = unsafe { status.assume_init() };
    Ok(Status {
        capacity_bytes: status.msg_qbytes,
        messages: status.msg_qnum,
        last_sent_unix_s: status.msg_stime,
        creator_uid: status.msg_perm.cuid,
        last_sender_pid: status.msg_lspid,
        last_receiver_pid: status.msg_lrpid,
    })
}

/// Removes a queue and what is in it, and wakes whoever waits on it with EIDRM.
pub fn remove(queue: c_int) -> Result<()> {
    // SAFETY: IPC_RMID ignores the pointer.
    checked(unsafe { libc::msgctl(queue, libc::IPC_RMID, std::ptr::null_mut()) }).map(drop)
}

fn checked(result: c_int) -> Result<c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

const _: () = assert!(size_of::<Buffer>() >= size_of::<c_long>() + TEXT_BYTES);
