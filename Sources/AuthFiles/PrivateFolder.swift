internal import Glibc

/// Folders that only their owner can enter.
package enum PrivateFolder {
    /// Creates the folder and missing parents with mode 0700. They survive a loss of power.
    package static func make(_ path: String) throws(SystemFailure) {
        for end in path.indices.dropFirst() + [path.endIndex] where end == path.endIndex || path[end] == "/" {
            let folder = String(path[..<end])
            if unsafe mkdir(folder, 0o700) == 0 {
                try sync(parent(of: folder))
            } else if errno != EEXIST {
                throw SystemFailure("create the folder \(folder)")
            }
        }
    }

    /// Entries that were added, renamed or removed survive a loss of power (fsync(2)).
    package static func sync(_ path: String) throws(SystemFailure) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("open the folder \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemFailure("write the folder \(path) to the disk") }
    }

    /// The folder of a path; "." for a bare name.
    package static func parent(of path: String) -> String {
        let name = name(of: path)
        guard name.startIndex > path.startIndex else { return "." }
        let slash = path.utf8.index(before: name.startIndex)
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What follows the last slash. Bytes: a slash with a combining mark is another character, but the kernel still sees
    /// the slash.
    package static func name(of path: String) -> Substring {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return path[(slash.map(path.utf8.index(after:)) ?? path.startIndex)...]
    }
}
