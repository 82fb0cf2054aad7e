// Landlock (landlock(7)), and a process that reads what a process in a Landlock domain may not. The numbers of linux/landlock.h
// are repeated here: the headers of the system may be older than its kernel.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The version of Landlock's interface, or -1 with errno set: ENOSYS or EOPNOTSUPP if the kernel has none.
int sandbox_landlock_version(void);

// What may be done with files, as bits (LANDLOCK_ACCESS_FS_*).
enum sandbox_access {
    SANDBOX_READ = 1,    // read files, list folders
    SANDBOX_EXECUTE = 2, // start programs
    SANDBOX_WRITE = 4,   // write, create and remove files and folders, and create sockets
    SANDBOX_DEVICE = 8,  // read and write a file, but create none
};

// Makes a ruleset that handles every access that this version knows, and keeps signals in the domain. With `abstract`, connections
// to abstract sockets of processes outside of it are refused, too (version 6). A descriptor, or -1 with errno set.
int sandbox_landlock_create(int version, int abstract);

// Allows this access (bits of sandbox_access) below a folder, or to a file, but not to what a link leads to. Returns 0, or -1 with
// errno set.
int sandbox_landlock_allow(int ruleset, int version, const char *path, int access);

// Restricts the calling thread, what it starts, and nothing else. Sets no_new_privs. Returns 0, or -1 with errno set.
int sandbox_landlock_restrict(int ruleset);

// A file. The times are nanoseconds since 1970: of the last change of the content, and of the status.
struct sandbox_file {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    int64_t modified;
    int64_t changed;
    uint64_t mount; // where it was opened, as in /proc/PID/mountinfo; 0 before Linux 5.8
};

// Describes a regular file: what a path leads to, with AT_FDCWD, or an open one, with an empty path. It does not wait for the file
// system: what the kernel knows already counts. Returns 0, or -1 with errno set.
int sandbox_describe(int descriptor, const char *path, struct sandbox_file *file);

// Describes the regular file that an absolute path leads to, without links on the way, and only if the kernel knows
// each folder already, so that no file system is asked (openat2(2), Linux 5.12). Returns 0, or -1 with errno set.
int sandbox_describe_plain(const char *path, struct sandbox_file *file);

// The questions that the reader answers about the process with a number.
enum sandbox_question {
    SANDBOX_EXECUTABLE = 1,     // where /proc/PID/exe leads to, and that file; all zero if only the path is known
    SANDBOX_USER_NAMESPACE = 2, // the inode of /proc/PID/ns/user
    SANDBOX_FLATPAK_INFO = 3,   // whether /proc/PID/root/.flatpak-info exists
};

// Starts the reader: a child that answers questions at the other end of the socket (SOCK_SEQPACKET), and ends when that is
// closed. It has no other descriptor, and may make only the system calls that it needs; it ends at once if the kernel does not
// limit it to them. Returns its ID, or -1 with errno set. Call it while the process has one thread.
pid_t sandbox_start_reader(int *socket);

// How a question ends.
enum sandbox_result {
    SANDBOX_ANSWERED = 0,
    SANDBOX_REFUSED = 1, // the reader found an error, or the question could not be sent: errno
    SANDBOX_WAITING = 2, // not answered in time: the answer may still come
    SANDBOX_ENDED = 3,   // the reader has ended, or does not keep to the protocol
};

// Asks the reader about a process, and waits for at most two seconds. A question has a number other than the one before, so that
// a late answer is recognized. Returns a sandbox_result.
int sandbox_ask(
    int socket, uint32_t number, int question, pid_t process, struct sandbox_file *file, char *text, size_t room,
    size_t *length);

// Whether the question with this number, which was not answered in time, is answered now. It does not wait. Returns a
// sandbox_result, but not SANDBOX_REFUSED.
int sandbox_await(int socket, uint32_t number);

// Closes every descriptor from this number on. Returns 0, or -1 with errno set: ENOSYS before Linux 5.9.
int sandbox_close_from(int first);
