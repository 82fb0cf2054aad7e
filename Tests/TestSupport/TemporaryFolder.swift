import Foundation
import Glibc

/// A folder of a test's own, mode 0700, gone with the test.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter syncs: whether a file's way to a disk is part of what is tried; else it lies in memory, where fsync(2)
    ///   costs nothing, and a slow disk delays no test.
    package init(syncs: Bool = true) throws {
        let parent = syncs || !Self.mayUseMemory ? NSTemporaryDirectory() : Self.memory
        let pattern = parent + "/authd-test.XXXXXX"
        var buffer = Array(pattern.utf8CString)
        guard mkdtemp(&buffer) != nil else { throw Failure("mkdtemp: \(String(cString: strerror(errno)))") }
        path = String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let memory = "/dev/shm"
    /// In a container it may be small, or may not have programs.
    private static let mayUseMemory: Bool = {
        var system = statvfs()
        guard access(memory, W_OK) == 0, statvfs(memory, &system) == 0 else { return false }
        // ST_NOEXEC (statvfs(3)), which Glibc lacks.
        return system.f_flag & 8 == 0 && system.f_bavail * system.f_frsize >= 1 << 30
    }()

    /// A folder inside, made if it is not there.
    package func folder(_ name: String) throws -> String {
        let folder = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder
    }

    package func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    deinit {
        // A folder that could not be removed does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// The mode of what a path names itself; `nil` where there is nothing.
package func mode(of path: String) -> UInt32? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.posixPermissions] as? NSNumber)?.uint32Value
}
