//! The file system: every call goes to the folder that it shows, and changes of files are noted on their way.
//!
//! A node is an inode of that folder, held by a descriptor that only names it, so that renames do not matter. The kernel may remember nothing about it,
//! because a cut changes files behind its back.

use crate::unflushed::Unflushed;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown,
    lchown,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the kernel may believe what it was told.
const NEVER: Duration = Duration::ZERO;
/// What the caller asked for that the folder's file need not know: the kernel has seen to it, or the page cache reads a file that is open for writing alone, and
/// direct writes need memory that this program does not align.
const OURS: i32 = libc_flags(
    OFlags::RWMODE
        .union(OFlags::TRUNC)
        .union(OFlags::APPEND)
        .union(OFlags::DIRECT)
        .union(OFlags::SYNC)
        .union(OFlags::DSYNC)
        .union(OFlags::CREATE)
        .union(OFlags::EXCL)
        .union(OFlags::NOFOLLOW),
);

const fn libc_flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

/// The folder, shown.
#[derive(Debug)]
pub(crate) struct Shown {
    root: Arc<File>,
    nodes: Mutex<HashMap<u64, Node>>,
    opened: Mutex<HashMap<u64, Arc<Opened>>>,
    next: AtomicU64,
    unflushed: Arc<Unflushed>,
}

/// An inode that the kernel knows.
#[derive(Debug)]
struct Node {
    names: Arc<File>,
    lookups: u64,
}

/// What somebody has open.
#[derive(Debug)]
enum Opened {
    File {
        file: File,
        flushes: bool,
    },
    /// What was in a folder when it was opened.
    Folder(Vec<(u64, FileType, OsString)>),
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where an inode is found that a descriptor names, whatever its name is by now.
fn place(names: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", names.as_raw_fd()))
}

fn named(place: &Path) -> io::Result<File> {
    let flags = libc_flags(OFlags::PATH | OFlags::NOFOLLOW);
    OpenOptions::new().read(true).custom_flags(flags).open(place)
}

fn kind(of: std::fs::FileType) -> FileType {
    if of.is_dir() {
        FileType::Directory
    } else if of.is_symlink() {
        FileType::Symlink
    } else if of.is_socket() {
        FileType::Socket
    } else if of.is_fifo() {
        FileType::NamedPipe
    } else {
        FileType::RegularFile
    }
}

fn time(seconds: i64, nanoseconds: i64) -> SystemTime {
    let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
    UNIX_EPOCH + since
}

fn attributes(of: &Metadata, number: INodeNo) -> FileAttr {
    FileAttr {
        ino: number,
        size: of.len(),
        blocks: of.blocks(),
        atime: time(of.atime(), of.atime_nsec()),
        mtime: time(of.mtime(), of.mtime_nsec()),
        ctime: time(of.ctime(), of.ctime_nsec()),
        crtime: UNIX_EPOCH,
        kind: kind(of.file_type()),
        perm: u16::try_from(of.mode() & 0o7777).unwrap_or(0),
        nlink: u32::try_from(of.nlink()).unwrap_or(u32::MAX),
        uid: of.uid(),
        gid: of.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

fn timestamp(of: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match of {
        None => special(UTIME_OMIT),
        Some(TimeOrNow::Now) => special(UTIME_NOW),
        Some(TimeOrNow::SpecificTime(time)) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            Timespec {
                tv_sec: i64::try_from(since.as_secs()).unwrap_or(0),
                tv_nsec: since.subsec_nanos().into(),
            }
        }
    }
}

impl Shown {
    /// Shows this folder.
    pub(crate) fn new(root: &Path, unflushed: Arc<Unflushed>) -> io::Result<Self> {
        Ok(Self {
            root: Arc::new(named(root)?),
            nodes: Mutex::default(),
            opened: Mutex::default(),
            next: AtomicU64::new(1),
            unflushed,
        })
    }

    fn node(&self, number: INodeNo) -> io::Result<Arc<File>> {
        if number == INodeNo::ROOT {
            return Ok(Arc::clone(&self.root));
        }
        let found = held(&self.nodes).get(&number.0).map(|node| Arc::clone(&node.names));
        found.ok_or_else(|| io::Error::from_raw_os_error(rustix::io::Errno::STALE.raw_os_error()))
    }

    fn place(&self, number: INodeNo) -> io::Result<PathBuf> {
        Ok(place(&*self.node(number)?))
    }

    /// Makes something in a folder, which then belongs to whoever asked.
    fn make(
        &self,
        (parent, name): (INodeNo, &OsStr),
        request: &Request,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<FileAttr> {
        let place = self.place(parent)?.join(name);
        make(&place)?;
        lchown(&place, Some(request.uid()), Some(request.gid()))?;
        self.look_up(&place)
    }

    /// What is there, which the kernel knows from now on.
    fn look_up(&self, place: &Path) -> io::Result<FileAttr> {
        let names = named(place)?;
        let found = names.metadata()?;
        let mut nodes = held(&self.nodes);
        let node = nodes.entry(found.ino()).or_insert_with(|| Node { names: Arc::new(names), lookups: 0 });
        node.lookups += 1;
        Ok(attributes(&found, INodeNo(found.ino())))
    }

    fn open_as(&self, place: &Path, flags: i32) -> io::Result<FileHandle> {
        let asked = OFlags::from_bits_retain(flags.cast_unsigned());
        let (empties, writes) =
            (asked.contains(OFlags::TRUNC), !asked.intersection(OFlags::RWMODE).is_empty());
        let file =
            OpenOptions::new().read(true).write(empties || writes).custom_flags(flags & !OURS).open(place)?;
        if empties {
            self.resize(&file, 0)?;
        }
        // O_SYNC has the bits of O_DSYNC.
        let flushes = asked.contains(OFlags::DSYNC);
        Ok(self.opened(Opened::File { file, flushes }))
    }

    fn opened(&self, opened: Opened) -> FileHandle {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        held(&self.opened).insert(handle, Arc::new(opened));
        FileHandle(handle)
    }

    fn handle(&self, handle: FileHandle) -> io::Result<Arc<Opened>> {
        let found = held(&self.opened).get(&handle.0).cloned();
        found.ok_or_else(|| io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()))
    }

    fn with_file<T>(
        &self,
        handle: FileHandle,
        act: impl FnOnce(&File, bool) -> io::Result<T>,
    ) -> io::Result<T> {
        match &*self.handle(handle)? {
            Opened::File { file, flushes } => act(file, *flushes),
            Opened::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn resize(&self, file: &File, size: u64) -> io::Result<()> {
        let was = file.metadata()?.len();
        self.unflushed.change(file, size..was.max(size), false, || file.set_len(size))
    }

    fn set(&self, number: INodeNo, set: &Set) -> io::Result<FileAttr> {
        let node = self.node(number)?;
        let place = place(&node);
        if set.owner != (None, None) {
            chown(&place, set.owner.0, set.owner.1)?;
        }
        if let Some(mode) = set.mode {
            std::fs::set_permissions(&place, PermissionsExt::from_mode(mode))?;
        }
        match (set.size, set.handle) {
            (None, _) => {}
            (Some(size), Some(handle)) => self.with_file(handle, |file, _| self.resize(file, size))?,
            (Some(size), None) => {
                self.resize(&OpenOptions::new().read(true).write(true).open(&place)?, size)?;
            }
        }
        if set.times != (None, None) {
            let (last_access, last_modification) = (timestamp(set.times.0), timestamp(set.times.1));
            let times = Timestamps { last_access, last_modification };
            rustix::fs::utimensat(CWD, &place, &times, AtFlags::empty())?;
        }
        Ok(attributes(&node.metadata()?, number))
    }

    fn listed(&self, number: INodeNo) -> io::Result<FileHandle> {
        let entries = std::fs::read_dir(self.place(number)?)?.map(|entry| {
            let entry = entry?;
            Ok((entry.ino(), kind(entry.file_type()?), entry.file_name()))
        });
        Ok(self.opened(Opened::Folder(entries.collect::<io::Result<_>>()?)))
    }
}

/// What is to be set of a node.
struct Set {
    mode: Option<u32>,
    owner: (Option<u32>, Option<u32>),
    size: Option<u64>,
    times: (Option<TimeOrNow>, Option<TimeOrNow>),
    handle: Option<FileHandle>,
}

/// Answers with what came out: `answer` takes the reply and the value.
macro_rules! answer {
    ($reply:ident, $done:expr, |$value:pat_param| $said:expr) => {
        match $done {
            Ok($value) => $said,
            Err(error) => $reply.error(Errno::from(io::Error::from(error))),
        }
    };
}

impl Filesystem for Shown {
    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.place(parent).and_then(|place| self.look_up(&place.join(name)));
        answer!(reply, found, |found| reply.entry(&NEVER, &found, Generation(0)));
    }

    fn forget(&self, _request: &Request, number: INodeNo, lookups: u64) {
        let mut nodes = held(&self.nodes);
        if let Some(node) = nodes.get_mut(&number.0) {
            node.lookups = node.lookups.saturating_sub(lookups);
            if node.lookups == 0 {
                nodes.remove(&number.0);
            }
        }
    }

    fn getattr(&self, _request: &Request, number: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.node(number).and_then(|node| node.metadata());
        answer!(reply, found, |found| reply.attr(&NEVER, &attributes(&found, number)));
    }

    fn setattr(
        &self,
        _request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _change: Option<SystemTime>,
        _backup: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = Set { mode, owner: (uid, gid), size, times: (accessed, modified), handle };
        answer!(reply, self.set(number, &set), |found| reply.attr(&NEVER, &found));
    }

    fn readlink(&self, _request: &Request, number: INodeNo, reply: ReplyData) {
        let read = |node: Arc<File>| Ok(rustix::fs::readlinkat(&*node, "", Vec::new())?);
        answer!(reply, self.node(number).and_then(read), |to| reply.data(to.as_bytes()));
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let made = self.make((parent, name), request, |place| {
            Ok(rustix::fs::mknodat(CWD, place, kind, Mode::from_raw_mode(mode), device.into())?)
        });
        answer!(reply, made, |made| reply.entry(&NEVER, &made, Generation(0)));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let made = self.make((parent, name), request, |place| DirBuilder::new().mode(mode).create(place));
        answer!(reply, made, |made| reply.entry(&NEVER, &made, Generation(0)));
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.place(parent).and_then(|place| std::fs::remove_file(place.join(name)));
        answer!(reply, done, |()| reply.ok());
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.place(parent).and_then(|place| std::fs::remove_dir(place.join(name)));
        answer!(reply, done, |()| reply.ok());
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, to: &Path, reply: ReplyEntry) {
        let made = self.make((parent, name), request, |place| std::os::unix::fs::symlink(to, place));
        answer!(reply, made, |made| reply.entry(&NEVER, &made, Generation(0)));
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let done = self.node(parent).and_then(|from| {
            let to = self.node(new_parent)?;
            Ok(rustix::fs::renameat_with(&*from, name, &*to, new_name, flags)?)
        });
        answer!(reply, done, |()| reply.ok());
    }

    fn link(
        &self,
        _request: &Request,
        number: INodeNo,
        new_parent: INodeNo,
        new_name: &OsStr,
        reply: ReplyEntry,
    ) {
        let made = self.place(number).and_then(|from| {
            let to = self.place(new_parent)?.join(new_name);
            rustix::fs::linkat(CWD, from, CWD, &to, AtFlags::SYMLINK_FOLLOW)?;
            self.look_up(&to)
        });
        answer!(reply, made, |made| reply.entry(&NEVER, &made, Generation(0)));
    }

    fn open(&self, _request: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened = self.place(number).and_then(|place| self.open_as(&place, flags.0));
        answer!(reply, opened, |handle| reply.opened(handle, FopenFlags::empty()));
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut new = OpenOptions::new();
        new.write(true).create_new(true).mode(mode);
        let made = self.make((parent, name), request, |place| new.open(place).map(drop));
        let opened = made.and_then(|made| Ok((made, self.open_as(&self.place(made.ino)?, flags)?)));
        answer!(reply, opened, |(made, handle)| {
            reply.created(&NEVER, &made, Generation(0), handle, FopenFlags::empty());
        });
    }

    fn read(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.with_file(handle, |file, _| {
            let mut data = vec![0; size as usize];
            let mut length = 0;
            while length < data.len() {
                match file.read_at(&mut data[length..], offset + length as u64)? {
                    0 => break,
                    more => length += more,
                }
            }
            data.truncate(length);
            Ok(data)
        });
        answer!(reply, read, |data| reply.data(&data));
    }

    fn write(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self.with_file(handle, |file, flushes| {
            let bytes = offset..offset + data.len() as u64;
            self.unflushed.change(file, bytes, flushes, || file.write_all_at(data, offset))
        });
        answer!(reply, written, |()| reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)));
    }

    fn fsync(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        _data: bool,
        reply: ReplyEmpty,
    ) {
        answer!(reply, self.with_file(handle, |file, _| self.unflushed.flush(file)), |()| reply.ok());
    }

    fn release(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        held(&self.opened).remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _request: &Request, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        answer!(reply, self.listed(number), |handle| reply.opened(handle, FopenFlags::empty()));
    }

    fn readdir(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let opened = self.handle(handle);
        answer!(reply, opened, |opened| {
            if let Opened::Folder(entries) = &*opened {
                let rest = entries.iter().zip(1..).skip(usize::try_from(offset).unwrap_or(usize::MAX));
                for ((number, kind, name), next) in rest {
                    if reply.add(INodeNo(*number), next, *kind, name) {
                        break;
                    }
                }
            }
            reply.ok();
        });
    }

    fn releasedir(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        held(&self.opened).remove(&handle.0);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _data: bool,
        reply: ReplyEmpty,
    ) {
        // Names are not lost.
        reply.ok();
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        let found = rustix::fs::fstatvfs(&*self.root);
        answer!(reply, found, |it| reply.statfs(
            it.f_blocks,
            it.f_bfree,
            it.f_bavail,
            it.f_files,
            it.f_ffree,
            u32::try_from(it.f_bsize).unwrap_or(4096),
            u32::try_from(it.f_namemax).unwrap_or(255),
            u32::try_from(it.f_frsize).unwrap_or(4096),
        ));
    }

    fn fallocate(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode != 0 {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let done = self.with_file(handle, |file, _| {
            let end = offset + length;
            if end > file.metadata()?.len() { self.resize(file, end) } else { Ok(()) }
        });
        answer!(reply, done, |()| reply.ok());
    }
}
