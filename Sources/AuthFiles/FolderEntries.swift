internal import Glibc

/// What a folder contains.
package enum FolderEntries {
    /// The names in no order, without `.` and `..`.
    package static func names(in folder: String) throws(SystemFailure) -> [String] {
        guard let entries = unsafe opendir(folder) else { throw SystemFailure("read the folder \(folder)") }
        return unsafe names(closing: entries)
    }

    /// Removes a file, or a folder with all that is in it. Links are not followed. What cannot be removed stays.
    package static func remove(_ path: String) {
        guard unsafe unlink(path) != 0 else { return }
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return }
        guard let entries = unsafe fdopendir(number) else {
            close(number)
            return
        }
        for name in unsafe names(closing: entries) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    private static func names(closing entries: OpaquePointer) -> [String] {
        defer { unsafe closedir(entries) }
        var names: [String] = []
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
