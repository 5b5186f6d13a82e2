//! The file system: every call goes to the folder that it shows, and changes of files are noted on their way.
//!
//! A node is an inode of that folder, held by a descriptor, so that renames do not matter; that only names it until somebody reads or writes. The kernel may remember
//! nothing about it, because a cut changes files behind its back.

use crate::unflushed::Unflushed;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use nix::libc;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fcntl_getfl};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, lchown,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the kernel may believe what it was told.
const NEVER: Duration = Duration::ZERO;

/// The folder, shown.
#[derive(Debug)]
pub(crate) struct Shown {
    nodes: Mutex<HashMap<u64, Node>>,
    /// What was in folders when they were opened, by handle.
    folders: Mutex<BTreeMap<u64, Entries>>,
    unflushed: Arc<Unflushed>,
}

/// What is in a folder: inodes, kinds and names.
type Entries = Vec<(u64, FileType, OsString)>;

/// An inode that the kernel knows.
#[derive(Debug)]
struct Node {
    file: Arc<File>,
    lookups: u64,
}

/// Where an inode is found that a descriptor holds, whatever its name is by now.
fn place(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn kind(of: std::fs::FileType) -> FileType {
    FileType::from_std(of).unwrap_or(FileType::RegularFile)
}

fn attributes(of: &Metadata) -> io::Result<FileAttr> {
    Ok(FileAttr {
        ino: INodeNo(of.ino()),
        size: of.len(),
        blocks: of.blocks(),
        atime: of.accessed()?,
        mtime: of.modified()?,
        ctime: UNIX_EPOCH + Duration::from(TimeSpec::new(of.ctime(), of.ctime_nsec())),
        crtime: UNIX_EPOCH,
        kind: kind(of.file_type()),
        perm: u16::try_from(of.mode() & 0o7777).unwrap_or(0),
        nlink: u32::try_from(of.nlink()).unwrap_or(u32::MAX),
        uid: of.uid(),
        gid: of.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    })
}

fn timestamp(of: Option<TimeOrNow>) -> TimeSpec {
    match of {
        None => TimeSpec::UTIME_OMIT,
        Some(TimeOrNow::Now) => TimeSpec::UTIME_NOW,
        Some(TimeOrNow::SpecificTime(time)) => time.duration_since(UNIX_EPOCH).unwrap_or_default().into(),
    }
}

impl Shown {
    /// Shows this folder.
    pub(crate) fn new(root: &Path, unflushed: Arc<Unflushed>) -> io::Result<Self> {
        let root = Node { file: Arc::new(File::open(root)?), lookups: 1 };
        let nodes = Mutex::new(HashMap::from([(INodeNo::ROOT.0, root)]));
        Ok(Self { nodes, folders: Mutex::default(), unflushed })
    }

    fn node(&self, number: INodeNo) -> io::Result<Arc<File>> {
        let found = self.nodes.lock().get(&number.0).map(|node| Arc::clone(&node.file));
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
    }

    fn place(&self, number: INodeNo) -> io::Result<PathBuf> {
        Ok(place(&*self.node(number)?))
    }

    /// An inode's file, open for reading at least.
    fn file(&self, number: INodeNo, writes: bool) -> io::Result<Arc<File>> {
        let held_so_far = self.node(number)?;
        let flags = fcntl_getfl(&*held_so_far)?;
        if flags.contains(OFlags::RDWR) || !(writes || flags.contains(OFlags::PATH)) {
            return Ok(held_so_far);
        }
        let file = Arc::new(OpenOptions::new().read(true).write(writes).open(place(&held_so_far))?);
        if let Some(node) = self.nodes.lock().get_mut(&number.0) {
            node.file = Arc::clone(&file);
        }
        Ok(file)
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
        let named =
            OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(place)?;
        let found = named.metadata()?;
        let mut nodes = self.nodes.lock();
        let node = nodes.entry(found.ino()).or_insert_with(|| Node { file: Arc::new(named), lookups: 0 });
        node.lookups += 1;
        attributes(&found)
    }

    fn resize(&self, number: INodeNo, size: u64) -> io::Result<()> {
        let file = self.file(number, true)?;
        let was = file.metadata()?.len();
        self.unflushed.change(&file, size..was.max(size), false, || file.set_len(size))
    }
}

/// Calls of the kernel that are answered alike: what answers and how, and of each call what the kernel gives and what is done. Errors are answers too.
macro_rules! calls {
    (
        ($this:ident, $request:ident) ($reply:ident: $answer:ident, $done:ident) $say:expr;
        $(fn $name:ident($($argument:ident: $kind:ty),*) $act:block)*
    ) => {
        $(fn $name(&self, $request: &Request, $($argument: $kind,)* $reply: $answer) {
            let ($this, _) = (self, $request);
            let act = || io::Result::Ok($act);
            match act() {
                Ok($done) => $say,
                Err(error) => $reply.error(Errno::from(error)),
            }
        })*
    };
}

impl Filesystem for Shown {
    fn forget(&self, _request: &Request, number: INodeNo, lookups: u64) {
        let mut nodes = self.nodes.lock();
        if let Some(node) = nodes.get_mut(&number.0) {
            node.lookups = node.lookups.saturating_sub(lookups);
            if node.lookups == 0 {
                nodes.remove(&number.0);
            }
        }
    }

    calls! {
        (this, request) (reply: ReplyEntry, made) reply.entry(&NEVER, &made, Generation(0));

        fn lookup(parent: INodeNo, name: &OsStr) { this.look_up(&this.place(parent)?.join(name))? }

        // Files too: what is created is opened after that.
        fn mknod(parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, device: u32) {
            let kind = rustix::fs::FileType::from_raw_mode(mode);
            this.make((parent, name), request, |place| {
                Ok(rustix::fs::mknodat(CWD, place, kind, Mode::from_raw_mode(mode), device.into())?)
            })?
        }

        fn mkdir(parent: INodeNo, name: &OsStr, mode: u32, _umask: u32) {
            this.make((parent, name), request, |place| DirBuilder::new().mode(mode).create(place))?
        }

        fn symlink(parent: INodeNo, name: &OsStr, to: &Path) {
            this.make((parent, name), request, |place| std::os::unix::fs::symlink(to, place))?
        }

        fn link(number: INodeNo, new_parent: INodeNo, new_name: &OsStr) {
            let to = this.place(new_parent)?.join(new_name);
            rustix::fs::linkat(CWD, this.place(number)?, CWD, &to, AtFlags::SYMLINK_FOLLOW)?;
            this.look_up(&to)?
        }
    }

    calls! {
        (this, request) (reply: ReplyAttr, found) reply.attr(&NEVER, &found);

        fn getattr(number: INodeNo, _handle: Option<FileHandle>) {
            attributes(&this.node(number)?.metadata()?)?
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
            _handle: Option<FileHandle>,
            _created: Option<SystemTime>,
            _change: Option<SystemTime>,
            _backup: Option<SystemTime>,
            _flags: Option<BsdFileFlags>
        ) {
            let node = this.node(number)?;
            let place = place(&node);
            if (uid, gid) != (None, None) {
                chown(&place, uid, gid)?;
            }
            if let Some(mode) = mode {
                std::fs::set_permissions(&place, PermissionsExt::from_mode(mode))?;
            }
            if let Some(size) = size {
                this.resize(number, size)?;
            }
            if (accessed, modified) != (None, None) {
                let [accessed, modified] = [accessed, modified].map(timestamp);
                utimensat(CWD, &place, &accessed, &modified, UtimensatFlags::FollowSymlink)?;
            }
            attributes(&node.metadata()?)?
        }
    }

    calls! {
        (this, request) (reply: ReplyData, data) reply.data(&data);

        fn readlink(number: INodeNo) {
            rustix::fs::readlinkat(&*this.node(number)?, "", Vec::new())?.into_bytes()
        }

        fn read(
            number: INodeNo,
            _handle: FileHandle,
            offset: u64,
            size: u32,
            _flags: OpenFlags,
            _owner: Option<LockOwner>
        ) {
            let file = this.file(number, false)?;
            let mut data = vec![0; size as usize];
            let mut length = 0;
            while length < data.len() {
                match file.read_at(&mut data[length..], offset + length as u64)? {
                    0 => break,
                    more => length += more,
                }
            }
            data.truncate(length);
            data
        }
    }

    calls! {
        (this, request) (reply: ReplyWrite, bytes) reply.written(bytes);

        fn write(
            number: INodeNo,
            _handle: FileHandle,
            offset: u64,
            data: &[u8],
            _write_flags: WriteFlags,
            flags: OpenFlags,
            _owner: Option<LockOwner>
        ) {
            let file = this.file(number, true)?;
            let bytes = offset..offset + data.len() as u64;
            // O_SYNC has the bits of O_DSYNC.
            let flushes = flags.0 & libc::O_DSYNC != 0;
            this.unflushed.change(&file, bytes, flushes, || file.write_all_at(data, offset))?;
            u32::try_from(data.len()).unwrap_or(u32::MAX)
        }
    }

    calls! {
        (this, request) (reply: ReplyOpen, handle) reply.opened(FileHandle(handle), FopenFlags::empty());

        fn open(number: INodeNo, flags: OpenFlags) {
            this.file(number, flags.0 & libc::O_ACCMODE != 0)?;
            0
        }

        fn opendir(number: INodeNo, _flags: OpenFlags) {
            let entries = std::fs::read_dir(this.place(number)?)?.map(|entry| {
                let entry = entry?;
                Ok((entry.ino(), kind(entry.file_type()?), entry.file_name()))
            });
            let entries = entries.collect::<io::Result<_>>()?;
            let mut folders = this.folders.lock();
            let handle = folders.last_key_value().map_or(0, |(last, _)| last + 1);
            folders.insert(handle, entries);
            handle
        }
    }

    calls! {
        (this, request) (reply: ReplyEmpty, _done) reply.ok();

        fn releasedir(_number: INodeNo, handle: FileHandle, _flags: OpenFlags) {
            this.folders.lock().remove(&handle.0)
        }

        fn unlink(parent: INodeNo, name: &OsStr) { std::fs::remove_file(this.place(parent)?.join(name))? }

        fn rmdir(parent: INodeNo, name: &OsStr) { std::fs::remove_dir(this.place(parent)?.join(name))? }

        fn rename(
            parent: INodeNo,
            name: &OsStr,
            new_parent: INodeNo,
            new_name: &OsStr,
            flags: RenameFlags
        ) {
            let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
            rustix::fs::renameat_with(&*this.node(parent)?, name, &*this.node(new_parent)?, new_name, flags)?
        }

        fn fsync(number: INodeNo, _handle: FileHandle, _data: bool) {
            this.unflushed.flush(&*this.node(number)?)?
        }

        fn fallocate(number: INodeNo, _handle: FileHandle, offset: u64, length: u64, mode: i32) {
            if mode != 0 {
                return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
            }
            let end = offset + length;
            if end > this.node(number)?.metadata()?.len() {
                this.resize(number, end)?;
            }
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
        let folders = self.folders.lock();
        let entries = folders.get(&handle.0).into_iter().flatten().zip(1..);
        for ((number, kind, name), next) in entries.skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            if reply.add(INodeNo(*number), next, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    calls! {
        (this, request) (reply: ReplyStatfs, it) reply.statfs(
            it.f_blocks, it.f_bfree, it.f_bavail, it.f_files, it.f_ffree,
            4096, 255, u32::try_from(it.f_frsize).unwrap_or(4096)
        );

        fn statfs(number: INodeNo) { rustix::fs::fstatvfs(&*this.node(number)?)? }
    }
}
