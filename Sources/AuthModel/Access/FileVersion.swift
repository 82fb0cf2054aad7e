/// A regular file, and the state that it was in. Each change of its content also changes the time of its status, which a program
/// cannot set on most file systems.
package struct FileVersion: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64
    package let size: UInt64
    /// When its content was changed, in nanoseconds since 1970. Programs can set this one.
    package let modified: Int64
    /// When its status was changed.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: UInt64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    package var number: FileNumber { FileNumber(device: device, inode: inode) }
}

/// Identifies a file independently of its path and content.
package struct FileNumber: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
}
