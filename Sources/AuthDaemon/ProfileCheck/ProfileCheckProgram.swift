import AuthWire
import CSystemd
import Glibc

/// The child process that reads a profile or access rules of a client: the agent itself never parses TOML from clients. It
/// reads a ``ProfileQuestion`` from stdin and writes a ``ProfileReading`` to stdout.
///
/// It starts as a new program without environment or further descriptors, so it has no secrets of the agent.
package enum ProfileCheckProgram {
    /// The only argument; not for users.
    static let argument = "--check-profile-from-stdin"
    /// A line of the protocol, and any result of a check.
    static let maxBytes = Limits.lineBytes * 2
    /// Processor time: the largest profile takes some hundredths of a second.
    private static let seconds: rlim_t = 3
    /// Memory: a check takes some tens of megabytes, most of them for the program itself.
    private static let memory: rlim_t = 256 << 20
    /// It opens no files.
    private static let descriptors: rlim_t = 8

    /// - Returns: its exit status, if this process was started as the child.
    package static func run(_ read: (ProfileQuestion) -> ProfileReading) -> CInt? {
        guard CommandLine.arguments.dropFirst().elementsEqual([argument]) else { return nil }
        limit()
        guard let bytes = input(), let json = try? JSON(parsing: bytes), let question = try? ProfileQuestion(json)
        else { return ExitStatus.wrongUsage.rawValue }
        return output(read(question).json.serialized()) ? 0 : ExitStatus.systemError.rawValue
    }

    private static func limit() {
        _ = authd_forbid_dumps()
        for (resource, most) in [
            (RLIMIT_CPU, seconds), (RLIMIT_DATA, memory), (RLIMIT_NOFILE, descriptors), (RLIMIT_CORE, 0),
            (RLIMIT_FSIZE, 0),
        ] {
            var limit = rlimit(rlim_cur: most, rlim_max: most)
            unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        }
    }

    private static func input() -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= maxBytes {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { return nil }
        }
        return nil
    }

    private static func output(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
        }
        return true
    }
}
