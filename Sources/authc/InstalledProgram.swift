import AuthFiles
import Glibc

/// The other programs of this release.
enum InstalledProgram {
    /// The path of this program.
    static func own() throws(Failure) -> String {
        guard let path else { throw .internalError("/proc/self/exe is not there") }
        return path
    }

    /// The program with TLS, beside this one (Docs/decisions/gateway.md).
    static func gateway() throws(Failure) -> String { "\(PrivateFolder.parent(of: try own()))/authd-gateway" }

    /// Beside this program, as in a build; where `make install` puts it; otherwise on the PATH.
    static var agent: String {
        guard let path else { return "authd" }
        let folder = PrivateFolder.parent(of: path)
        return ["\(folder)/authd", "\(folder)/../../bin/authd"].first { unsafe access($0, X_OK) == 0 } ?? "authd"
    }

    /// The path of this program (proc_pid_exe(5)); `nil` without /proc.
    static let path: String? = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        guard count > 0, count < path.count else { return nil }
        return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
