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
use nix::libc;
use rustix::fs::{AtFlags, CWD, Mode, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, lchown,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the kernel may believe what it was told.
const NEVER: Duration = Duration::ZERO;
/// What the caller asked for that the folder's file need not know: the kernel has seen to it, or the page cache reads a file that is open for writing alone, and
/// direct writes need memory that this program does not align.
const OURS: i32 = libc::O_ACCMODE
    | libc::O_TRUNC
    | libc::O_APPEND
    | libc::O_DIRECT
    | libc::O_SYNC
    | libc::O_CREAT
    | libc::O_EXCL
    | libc::O_NOFOLLOW;

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
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(place)
}

fn kind(of: std::fs::FileType) -> FileType {
    FileType::from_std(of).unwrap_or(FileType::RegularFile)
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
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
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
        let (empties, writes) = (flags & libc::O_TRUNC != 0, flags & libc::O_ACCMODE != 0);
        let file =
            OpenOptions::new().read(true).write(empties || writes).custom_flags(flags & !OURS).open(place)?;
        if empties {
            self.resize(&file, 0)?;
        }
        // O_SYNC has the bits of O_DSYNC.
        let flushes = flags & libc::O_DSYNC != 0;
        Ok(self.opened(Opened::File { file, flushes }))
    }

    fn opened(&self, opened: Opened) -> FileHandle {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        held(&self.opened).insert(handle, Arc::new(opened));
        FileHandle(handle)
    }

    fn handle(&self, handle: FileHandle) -> io::Result<Arc<Opened>> {
        let found = held(&self.opened).get(&handle.0).cloned();
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
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

    fn close(&self, handle: FileHandle) {
        held(&self.opened).remove(&handle.0);
    }
}

/// What answers a call, and how it says what came out.
macro_rules! said {
    (entry) => {
        ReplyEntry
    };
    (entry, $reply:ident, $made:ident) => {
        $reply.entry(&NEVER, &$made, Generation(0))
    };
    (attr) => {
        ReplyAttr
    };
    (attr, $reply:ident, $found:ident) => {
        $reply.attr(&NEVER, &$found)
    };
    (empty) => {
        ReplyEmpty
    };
    (empty, $reply:ident, $nothing:ident) => {{
        let () = $nothing;
        $reply.ok()
    }};
    (open) => {
        ReplyOpen
    };
    (open, $reply:ident, $handle:ident) => {
        $reply.opened($handle, FopenFlags::empty())
    };
    (create) => {
        ReplyCreate
    };
    (create, $reply:ident, $both:ident) => {
        $reply.created(&NEVER, &$both.0, Generation(0), $both.1, FopenFlags::empty())
    };
    (data) => {
        ReplyData
    };
    (data, $reply:ident, $data:ident) => {
        $reply.data(&$data)
    };
    (write) => {
        ReplyWrite
    };
    (write, $reply:ident, $bytes:ident) => {
        $reply.written($bytes)
    };
}

/// Calls of the kernel: what it gives, what answers, and what is done. Errors are answers too.
macro_rules! calls {
    (($this:ident, $request:ident) $(fn $name:ident($($argument:ident: $kind:ty),*) -> $answer:ident $done:block)*) => {
        $(fn $name(&self, $request: &Request, $($argument: $kind,)* reply: said!($answer)) {
            let ($this, _) = (self, $request);
            let act = || io::Result::Ok($done);
            match act() {
                Ok(done) => said!($answer, reply, done),
                Err(error) => reply.error(Errno::from(error)),
            }
        })*
    };
}

impl Filesystem for Shown {
    fn forget(&self, _request: &Request, number: INodeNo, lookups: u64) {
        let mut nodes = held(&self.nodes);
        if let Some(node) = nodes.get_mut(&number.0) {
            node.lookups = node.lookups.saturating_sub(lookups);
            if node.lookups == 0 {
                nodes.remove(&number.0);
            }
        }
    }

    calls! { (this, request)
        fn lookup(parent: INodeNo, name: &OsStr) -> entry { this.look_up(&this.place(parent)?.join(name))? }

        fn getattr(number: INodeNo, _handle: Option<FileHandle>) -> attr {
            attributes(&this.node(number)?.metadata()?, number)
        }

        fn setattr(
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
            _flags: Option<BsdFileFlags>
        ) -> attr {
            let node = this.node(number)?;
            let place = place(&node);
            if (uid, gid) != (None, None) {
                chown(&place, uid, gid)?;
            }
            if let Some(mode) = mode {
                std::fs::set_permissions(&place, PermissionsExt::from_mode(mode))?;
            }
            match (size, handle) {
                (None, _) => {}
                (Some(size), Some(handle)) => this.with_file(handle, |file, _| this.resize(file, size))?,
                (Some(size), None) => {
                    this.resize(&OpenOptions::new().read(true).write(true).open(&place)?, size)?;
                }
            }
            if (accessed, modified) != (None, None) {
                let (last_access, last_modification) = (timestamp(accessed), timestamp(modified));
                let times = Timestamps { last_access, last_modification };
                rustix::fs::utimensat(CWD, &place, &times, AtFlags::empty())?;
            }
            attributes(&node.metadata()?, number)
        }

        fn readlink(number: INodeNo) -> data {
            rustix::fs::readlinkat(&*this.node(number)?, "", Vec::new())?.into_bytes()
        }

        fn mknod(parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, device: u32) -> entry {
            let kind = rustix::fs::FileType::from_raw_mode(mode);
            this.make((parent, name), request, |place| {
                Ok(rustix::fs::mknodat(CWD, place, kind, Mode::from_raw_mode(mode), device.into())?)
            })?
        }

        fn mkdir(parent: INodeNo, name: &OsStr, mode: u32, _umask: u32) -> entry {
            this.make((parent, name), request, |place| DirBuilder::new().mode(mode).create(place))?
        }

        fn unlink(parent: INodeNo, name: &OsStr) -> empty { std::fs::remove_file(this.place(parent)?.join(name))? }

        fn rmdir(parent: INodeNo, name: &OsStr) -> empty { std::fs::remove_dir(this.place(parent)?.join(name))? }

        fn symlink(parent: INodeNo, name: &OsStr, to: &Path) -> entry {
            this.make((parent, name), request, |place| std::os::unix::fs::symlink(to, place))?
        }

        fn rename(
            parent: INodeNo,
            name: &OsStr,
            new_parent: INodeNo,
            new_name: &OsStr,
            flags: RenameFlags
        ) -> empty {
            let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
            rustix::fs::renameat_with(&*this.node(parent)?, name, &*this.node(new_parent)?, new_name, flags)?
        }

        fn link(number: INodeNo, new_parent: INodeNo, new_name: &OsStr) -> entry {
            let to = this.place(new_parent)?.join(new_name);
            rustix::fs::linkat(CWD, this.place(number)?, CWD, &to, AtFlags::SYMLINK_FOLLOW)?;
            this.look_up(&to)?
        }

        fn open(number: INodeNo, flags: OpenFlags) -> open { this.open_as(&this.place(number)?, flags.0)? }

        fn create(parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, flags: i32) -> create {
            let mut new = OpenOptions::new();
            new.write(true).create_new(true).mode(mode);
            let made = this.make((parent, name), request, |place| new.open(place).map(drop))?;
            (made, this.open_as(&this.place(made.ino)?, flags)?)
        }

        fn read(
            _number: INodeNo,
            handle: FileHandle,
            offset: u64,
            size: u32,
            _flags: OpenFlags,
            _owner: Option<LockOwner>
        ) -> data {
            this.with_file(handle, |file, _| {
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
            })?
        }

        fn write(
            _number: INodeNo,
            handle: FileHandle,
            offset: u64,
            data: &[u8],
            _write_flags: WriteFlags,
            _flags: OpenFlags,
            _owner: Option<LockOwner>
        ) -> write {
            this.with_file(handle, |file, flushes| {
                let bytes = offset..offset + data.len() as u64;
                this.unflushed.change(file, bytes, flushes, || file.write_all_at(data, offset))
            })?;
            u32::try_from(data.len()).unwrap_or(u32::MAX)
        }

        fn fsync(_number: INodeNo, handle: FileHandle, _data: bool) -> empty {
            this.with_file(handle, |file, _| this.unflushed.flush(file))?
        }

        fn release(
            _number: INodeNo,
            handle: FileHandle,
            _flags: OpenFlags,
            _owner: Option<LockOwner>,
            _flush: bool
        ) -> empty { this.close(handle) }

        fn opendir(number: INodeNo, _flags: OpenFlags) -> open {
            let entries = std::fs::read_dir(this.place(number)?)?.map(|entry| {
                let entry = entry?;
                Ok((entry.ino(), kind(entry.file_type()?), entry.file_name()))
            });
            this.opened(Opened::Folder(entries.collect::<io::Result<_>>()?))
        }

        fn releasedir(_number: INodeNo, handle: FileHandle, _flags: OpenFlags) -> empty { this.close(handle) }

        fn fallocate(_number: INodeNo, handle: FileHandle, offset: u64, length: u64, mode: i32) -> empty {
            if mode != 0 {
                return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
            }
            this.with_file(handle, |file, _| {
                let end = offset + length;
                if end > file.metadata()?.len() { this.resize(file, end) } else { Ok(()) }
            })?
        }
    }

    fn readdir(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let Ok(opened) = self.handle(handle) else { return reply.error(Errno::EBADF) };
        if let Opened::Folder(entries) = &*opened {
            let rest = entries.iter().zip(1..).skip(usize::try_from(offset).unwrap_or(usize::MAX));
            for ((number, kind, name), next) in rest {
                if reply.add(INodeNo(*number), next, *kind, name) {
                    break;
                }
            }
        }
        reply.ok();
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        let Ok(it) = rustix::fs::fstatvfs(&*self.root) else { return reply.error(Errno::EIO) };
        let [size, longest, part] =
            [it.f_bsize, it.f_namemax, it.f_frsize].map(|one| u32::try_from(one).unwrap_or(4096));
        reply.statfs(it.f_blocks, it.f_bfree, it.f_bavail, it.f_files, it.f_ffree, size, longest, part);
    }
}
