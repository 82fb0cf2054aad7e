import CLinux
import Glibc

/// A lock of a whole file (fcntl(2), F_OFD_SETLK). Unlike one of flock(2), it counts on all machines if the file is on NFS.
package enum FileLock {
    /// Whether other machines may have the file or folder.
    package static func isOnNetwork(_ descriptor: CInt) -> Bool { linux_is_on_network(descriptor) != 0 }

    /// Returns at once. The lock lasts until the file is closed, at the latest until the process ends.
    /// - Returns: the errno of a failure; `EAGAIN` or `EACCES` if another process has the lock.
    package static func lock(_ descriptor: CInt) -> CInt? {
        var whole = Glibc.flock()
        (whole.l_type, whole.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        return unsafe fcntl(descriptor, linux_ofd_setlk, &whole) == 0 ? nil : errno
    }
}
