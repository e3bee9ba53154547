// Preloaded, it lets the FAIL_CALL-th call of the system for a credential's files fail, with the error FAIL_ERROR.
// With FAIL_NAME, only the calls of that function count.
//
// Those files are all whose name or path has FAIL_IN in it, and what is opened relative to them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;
static atomic_char watched[4096];

static int number(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

static int fails(const char *name) {
    const char *wanted = getenv("FAIL_NAME");
    if (wanted && strcmp(wanted, name)) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != number("FAIL_CALL")) return 0;
    errno = number("FAIL_ERROR");
    return 1;
}

static int is_watched(int file) { return file >= 0 && file < 4096 && watched[file]; }

static int is_ours(int folder, const char *path) {
    const char *place = getenv("FAIL_IN");
    return is_watched(folder) || (place && path && strstr(path, place));
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int openat(int folder, const char *path, int flags, ...) {
    REAL(openat);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    int ours = is_ours(folder, path);
    if (ours && fails(__func__)) return -1;
    int file = real(folder, path, flags, mode);
    if (file >= 0 && file < 4096) watched[file] = ours;
    return file;
}

int close(int file) {
    REAL(close);
    if (file >= 0 && file < 4096) watched[file] = 0;
    return real(file);
}

ssize_t read(int file, void *bytes, size_t count) {
    REAL(read);
    return is_watched(file) && fails(__func__) ? -1 : real(file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    return is_watched(file) && fails(__func__) ? -1 : real(file, bytes, count);
}

int fsync(int file) {
    REAL(fsync);
    return is_watched(file) && fails(__func__) ? -1 : real(file);
}

int posix_fallocate(int file, off_t start, off_t length) {
    REAL(posix_fallocate);
    return is_watched(file) && fails(__func__) ? errno : real(file, start, length);
}

int ftruncate(int file, off_t length) {
    REAL(ftruncate);
    return is_watched(file) && fails(__func__) ? -1 : real(file, length);
}

int fchmod(int file, mode_t mode) {
    REAL(fchmod);
    return is_watched(file) && fails(__func__) ? -1 : real(file, mode);
}

int fstat(int file, struct stat *status) {
    REAL(fstat);
    return is_watched(file) && fails(__func__) ? -1 : real(file, status);
}

int fstatat(int folder, const char *restrict path, struct stat *restrict status, int flags) {
    REAL(fstatat);
    return is_ours(folder, path) && fails(__func__) ? -1 : real(folder, path, status, flags);
}

int faccessat(int folder, const char *path, int mode, int flags) {
    REAL(faccessat);
    return is_ours(folder, path) && fails(__func__) ? -1 : real(folder, path, mode, flags);
}

int renameat(int from, const char *old, int to, const char *new) {
    REAL(renameat);
    return is_ours(from, old) && fails(__func__) ? -1 : real(from, old, to, new);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    return is_ours(folder, path) && fails(__func__) ? -1 : real(folder, path, flags);
}

int flock(int file, int operation) {
    REAL(flock);
    return is_watched(file) && fails(__func__) ? -1 : real(file, operation);
}
