package import AuthWire
import CSystemd
import Glibc

/// This program as the child that checks one profile of a client: the agent's own process never parses TOML that a client
/// sent. It reads the params of `provider.check` from stdin and writes the result to stdout.
///
/// It begins as a new program, with no environment and no descriptor besides these two: it holds no secret of the agent.
package enum ProfileCheckProgram {
    /// The whole command line behind the program's name; not for people.
    static let argument = "--check-profile-from-stdin"
    /// A line of the protocol, and the result of any check, with room.
    static let mostBytes = Limits.lineBytes * 2
    /// Of processor time: the largest profile takes some hundredths of a second.
    private static let seconds: rlim_t = 3
    /// Of its own memory: a check takes some tens of megabytes, most of them the program itself.
    private static let memory: rlim_t = 256 << 20
    /// It opens nothing.
    private static let descriptors: rlim_t = 8

    /// - Returns: its exit status if that is what this process was started for.
    package static func run(_ check: (ProviderCheckRun) -> ProviderCheck) -> CInt? {
        guard CommandLine.arguments.dropFirst().elementsEqual([argument]) else { return nil }
        limit()
        guard let bytes = input(), let json = try? JSON(parsing: bytes), case .object(let object) = json,
            let params = try? ProviderCheckRun(params: .object(object))
        else { return ExitStatus.wrongUsage.rawValue }
        return output(check(params).json.serialized()) ? 0 : ExitStatus.systemError.rawValue
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
        while bytes.count <= mostBytes {
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
