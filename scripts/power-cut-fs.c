/* A file system in user space (FUSE) that can lose power: on command it forgets everything that was written and not flushed.

   It shows a folder at another place. What is written goes to the folder at once. Beside that, the file system keeps in memory what stood there at the file's
   last flush (fsync, fdatasync, msync, or a write to a file opened with O_SYNC or O_DSYNC). A flush drops that memory for the file. A cut writes it back.

   The commands are values of the attribute user.power of the mounted folder:
     keep   everything that is there is taken as flushed, and from now on the memory is kept
     cut    every file is again what it was at its last flush; the attribute then says how many files, blocks and bytes were lost, and standard output which

   Names are not lost: a file that was made, renamed or removed stays so. A new file that was never flushed is empty after a cut.

   Build:  cc -O2 -Wall -o power-cut-fs scripts/power-cut-fs.c $(pkg-config --cflags --libs fuse3)
   Mount:  power-cut-fs FOLDER PLACE -f -o allow_other,default_permissions
   It takes root, as files belong to whoever makes them. scripts/power-loss.py does all of this. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BLOCK 4096
#define BUCKETS 4096
#define RESULT(call) ((call) == -1 ? -errno : 0)

struct saved {
    struct saved *next;
    off_t block;
    size_t length;
    char data[BLOCK];
};

/* A file that was changed since the power was last lost or kept. */
struct file {
    struct file *next;
    ino_t number;
    int fd;
    pthread_mutex_t lock;
    bool dirty;
    off_t size; /* at the last flush */
    struct saved *blocks;
    uint8_t *is_saved; /* a bit a block */
    size_t bits;
};

struct handle {
    int fd;
    bool flushes;
};

static int root;
static bool lossy;
static char lost[128] = "";
static struct file *files[BUCKETS];
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
/* Changes hold it for reading, commands for writing. */
static pthread_rwlock_t power = PTHREAD_RWLOCK_INITIALIZER;

static const char *below(const char *path) { return path[1] ? path + 1 : "."; }
static struct handle *handle(struct fuse_file_info *info) { return (struct handle *)(uintptr_t)info->fh; }

static struct file *file_of(int fd) {
    struct stat stat;
    if (fstat(fd, &stat) == -1) abort();
    pthread_mutex_lock(&files_lock);
    struct file **place = &files[stat.st_ino % BUCKETS], *file = *place;
    while (file && file->number != stat.st_ino) file = file->next;
    if (!file) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        file = calloc(1, sizeof *file);
        file->number = stat.st_ino;
        file->fd = open(name, O_RDWR | O_CLOEXEC); /* held open, so that the number is not given again */
        if (file->fd == -1) abort();
        pthread_mutex_init(&file->lock, NULL);
        file->next = *place;
        *place = file;
    }
    pthread_mutex_unlock(&files_lock);
    return file;
}

static void flushed(struct file *file) {
    for (struct saved *next; file->blocks; file->blocks = next) {
        next = file->blocks->next;
        free(file->blocks);
    }
    free(file->is_saved);
    file->is_saved = NULL;
    file->bits = 0;
    file->dirty = false;
}

/* Keeps what stands in these bytes, unless it is kept already. What is behind the size needs no keeping: the size says that it was not there. */
static void save(struct file *file, off_t offset, off_t length) {
    if (!file->dirty) {
        struct stat stat;
        if (fstat(file->fd, &stat) == -1) abort();
        file->size = stat.st_size;
        file->dirty = true;
        file->bits = (stat.st_size + BLOCK - 1) / BLOCK;
        file->is_saved = calloc(file->bits / 8 + 1, 1);
    }
    for (off_t block = offset / BLOCK; block * BLOCK < offset + length && (size_t)block < file->bits; block++) {
        if (file->is_saved[block / 8] & 1 << block % 8) continue;
        struct saved *saved = malloc(sizeof *saved);
        ssize_t read = pread(file->fd, saved->data, BLOCK, block * BLOCK);
        if (read < 0) abort();
        saved->length = read;
        saved->block = block;
        saved->next = file->blocks;
        file->blocks = saved;
        file->is_saved[block / 8] |= 1 << block % 8;
    }
}

static void cut(void) {
    long count = 0, blocks = 0;
    long long bytes = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (struct file *file = files[bucket]; file; file = file->next) {
            struct stat stat;
            char link[64], name[4096];
            if (!file->dirty) continue;
            if (fstat(file->fd, &stat) == -1) abort();
            snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
            ssize_t length = readlink(link, name, sizeof name);
            long before = blocks;
            bytes += stat.st_size > file->size ? stat.st_size - file->size : 0;
            count++;
            if (ftruncate(file->fd, file->size) == -1) abort();
            for (struct saved *saved = file->blocks; saved; saved = saved->next, blocks++)
                if (pwrite(file->fd, saved->data, saved->length, saved->block * BLOCK) != (ssize_t)saved->length) abort();
            printf("%.*s: %lld bytes, %lld after the cut, %ld blocks written over\n", (int)(length > 0 ? length : 0), name, (long long)stat.st_size,
                   (long long)file->size, blocks - before);
            flushed(file);
        }
    printf("cut\n");
    fflush(stdout);
    snprintf(lost, sizeof lost, "%ld files, %ld blocks written over, %lld bytes behind the end", count, blocks, bytes);
}

static int do_setxattr(const char *path, const char *name, const char *value, size_t size, int flags) {
    if (strcmp(path, "/") || strcmp(name, "user.power")) return -ENOTSUP;
    int result = 0;
    pthread_rwlock_wrlock(&power);
    if (size == 4 && !memcmp(value, "keep", 4)) {
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            for (struct file *file = files[bucket]; file; file = file->next) flushed(file);
        lossy = true;
    } else if (size == 3 && !memcmp(value, "cut", 3)) {
        cut();
    } else {
        result = -EINVAL;
    }
    pthread_rwlock_unlock(&power);
    return result;
}

static int do_getxattr(const char *path, const char *name, char *value, size_t size) {
    if (strcmp(path, "/") || strcmp(name, "user.power")) return -ENODATA;
    size_t length = strlen(lost);
    if (size && size < length) return -ERANGE;
    if (size) memcpy(value, lost, length);
    return length;
}

static int change_size(int fd, off_t size) {
    pthread_rwlock_rdlock(&power);
    struct file *file = lossy ? file_of(fd) : NULL;
    if (file) {
        struct stat stat;
        pthread_mutex_lock(&file->lock);
        if (fstat(fd, &stat) == -1) abort();
        save(file, size, stat.st_size > size ? stat.st_size - size : 0);
    }
    int result = RESULT(ftruncate(fd, size));
    if (file) pthread_mutex_unlock(&file->lock);
    pthread_rwlock_unlock(&power);
    return result;
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *info) {
    if (info) return change_size(handle(info)->fd, size);
    int fd = openat(root, below(path), O_RDWR | O_CLOEXEC);
    if (fd == -1) return -errno;
    int result = change_size(fd, size);
    close(fd);
    return result;
}

static int do_write(const char *path, const char *data, size_t size, off_t offset, struct fuse_file_info *info) {
    struct handle *open = handle(info);
    pthread_rwlock_rdlock(&power);
    struct file *file = lossy ? file_of(open->fd) : NULL;
    if (file) {
        pthread_mutex_lock(&file->lock);
        save(file, offset, size);
    }
    ssize_t written = pwrite(open->fd, data, size, offset);
    if (written == -1) written = -errno;
    if (file) {
        if (open->flushes) flushed(file);
        pthread_mutex_unlock(&file->lock);
    }
    pthread_rwlock_unlock(&power);
    return written;
}

static int do_fsync(const char *path, int only_data, struct fuse_file_info *info) {
    pthread_rwlock_rdlock(&power);
    if (lossy) {
        struct file *file = file_of(handle(info)->fd);
        pthread_mutex_lock(&file->lock);
        flushed(file);
        pthread_mutex_unlock(&file->lock);
    }
    pthread_rwlock_unlock(&power);
    return 0;
}

static int do_fallocate(const char *path, int mode, off_t offset, off_t length, struct fuse_file_info *info) {
    struct stat stat;
    if (mode) return -EOPNOTSUPP;
    if (fstat(handle(info)->fd, &stat) == -1) return -errno;
    return offset + length > stat.st_size ? change_size(handle(info)->fd, offset + length) : 0;
}

/* What is made belongs to whoever made it. */
static int own(const char *path) {
    struct fuse_context *caller = fuse_get_context();
    return RESULT(fchownat(root, below(path), caller->uid, caller->gid, AT_SYMLINK_NOFOLLOW));
}

static int open_as(const char *path, int flags, mode_t mode, struct fuse_file_info *info) {
    /* The page cache reads a file that is opened for writing alone, and direct writes need memory that this program does not align. */
    bool writes = (flags & O_ACCMODE) != O_RDONLY, empties = flags & O_TRUNC;
    int kept = flags & ~(O_ACCMODE | O_TRUNC | O_APPEND | O_DIRECT | O_SYNC | O_DSYNC);
    int fd = openat(root, below(path), kept | (writes || empties ? O_RDWR : O_RDONLY) | O_CLOEXEC, mode);
    if (fd == -1) return -errno;
    if (empties) change_size(fd, 0);
    struct handle *open = malloc(sizeof *open);
    open->fd = fd;
    open->flushes = flags & (O_SYNC | O_DSYNC);
    info->fh = (uintptr_t)open;
    return 0;
}

static int do_open(const char *path, struct fuse_file_info *info) { return open_as(path, info->flags & ~O_CREAT, 0, info); }

static int do_create(const char *path, mode_t mode, struct fuse_file_info *info) {
    int result = open_as(path, info->flags | O_CREAT, mode, info);
    return result ? result : own(path);
}

static int do_release(const char *path, struct fuse_file_info *info) {
    close(handle(info)->fd);
    free(handle(info));
    return 0;
}

static int do_read(const char *path, char *data, size_t size, off_t offset, struct fuse_file_info *info) {
    ssize_t read = pread(handle(info)->fd, data, size, offset);
    return read == -1 ? -errno : read;
}

static int do_getattr(const char *path, struct stat *stat, struct fuse_file_info *info) {
    return info ? RESULT(fstat(handle(info)->fd, stat)) : RESULT(fstatat(root, below(path), stat, AT_SYMLINK_NOFOLLOW));
}

static int do_readlink(const char *path, char *text, size_t size) {
    ssize_t length = readlinkat(root, below(path), text, size - 1);
    if (length == -1) return -errno;
    text[length] = 0;
    return 0;
}

static int do_readdir(const char *path, void *list, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info, enum fuse_readdir_flags flags) {
    int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1) return -errno;
    DIR *folder = fdopendir(fd);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat stat = {.st_ino = entry->d_ino, .st_mode = DTTOIF(entry->d_type)};
        if (fill(list, entry->d_name, &stat, 0, 0)) break;
    }
    closedir(folder);
    return 0;
}

static int do_mknod(const char *path, mode_t mode, dev_t device) {
    int result = RESULT(mknodat(root, below(path), mode, device));
    return result ? result : own(path);
}
static int do_mkdir(const char *path, mode_t mode) {
    int result = RESULT(mkdirat(root, below(path), mode));
    return result ? result : own(path);
}
static int do_symlink(const char *to, const char *path) {
    int result = RESULT(symlinkat(to, root, below(path)));
    return result ? result : own(path);
}
static int do_link(const char *from, const char *to) { return RESULT(linkat(root, below(from), root, below(to), 0)); }
static int do_unlink(const char *path) { return RESULT(unlinkat(root, below(path), 0)); }
static int do_rmdir(const char *path) { return RESULT(unlinkat(root, below(path), AT_REMOVEDIR)); }
static int do_rename(const char *from, const char *to, unsigned flags) { return RESULT(renameat2(root, below(from), root, below(to), flags)); }
static int do_chmod(const char *path, mode_t mode, struct fuse_file_info *info) { return RESULT(fchmodat(root, below(path), mode, 0)); }
static int do_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info) {
    return RESULT(fchownat(root, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}
static int do_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info) {
    return RESULT(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}
static int do_statfs(const char *path, struct statvfs *found) { return RESULT(fstatvfs(root, found)); }

static void *do_init(struct fuse_conn_info *connection, struct fuse_config *settings) {
    /* The kernel must not remember what a cut changes. */
    settings->entry_timeout = settings->attr_timeout = settings->negative_timeout = 0;
    settings->use_ino = 1;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = do_init, .getattr = do_getattr, .readlink = do_readlink, .readdir = do_readdir, .mknod = do_mknod, .mkdir = do_mkdir, .symlink = do_symlink,
    .link = do_link, .unlink = do_unlink, .rmdir = do_rmdir, .rename = do_rename, .chmod = do_chmod, .chown = do_chown, .utimens = do_utimens,
    .statfs = do_statfs, .open = do_open, .create = do_create, .release = do_release, .read = do_read, .write = do_write, .truncate = do_truncate,
    .fallocate = do_fallocate, .fsync = do_fsync, .setxattr = do_setxattr, .getxattr = do_getxattr,
};

int main(int count, char **arguments) {
    if (count < 3 || (root = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
        fprintf(stderr, "power-cut-fs: give a folder that is there, and the place to show it at\n");
        return 2;
    }
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    umask(0);
    arguments[1] = arguments[0];
    return fuse_main(count - 1, arguments + 1, &operations, NULL);
}
