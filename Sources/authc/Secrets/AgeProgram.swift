import AuthConnection
import AuthFiles
import AuthProcesses
import Glibc

/// Runs the program `age` (age-encryption.org), which encrypts to recipients and decrypts with identities. The data only goes
/// through pipes.
enum AgeProgram {
    private static let maxMessageBytes = 4096

    enum Operation {
        /// For recipients, and for those in files, one per line.
        case seal(recipients: [String], files: [String])
        /// With identities in files. age asks on the terminal if one has a passphrase.
        case open(identities: [String])

        fileprivate var arguments: [String] {
            switch self {
            case .seal(let recipients, let files):
                ["--encrypt"] + recipients.flatMap { ["--recipient", $0] }
                    + files.flatMap { ["--recipients-file", $0] }
            case .open(let identities): ["--decrypt"] + identities.flatMap { ["--identity", $0] }
            }
        }

        fileprivate var failure: String {
            switch self {
            case .seal: "age could not seal the export"
            case .open: "age could not open the file"
            }
        }
    }

    /// - Throws: if age is missing or fails. Its output is not used then.
    static func run(_ operation: Operation, on bytes: [UInt8], atMost limit: Int) throws(Failure) -> [UInt8] {
        let (input, output, messages) = (try Pipe(), try Pipe(atMost: limit), try Pipe(atMost: maxMessageBytes))
        let child = try spawn(operation.arguments, input, output, messages)
        input.keepOnly(.writing)
        output.keepOnly(.reading)
        messages.keepOnly(.reading)
        // age may exit before it has read everything. Its error message says why.
        let former = signal(SIGPIPE, SIG_IGN)
        exchange(bytes, input, [output, messages])
        signal(SIGPIPE, former)
        let end = ProcessEnd(of: child)
        guard end == .exit(status: 0) else {
            throw Failure(
                status: .refusedData, kind: "age", message: "\(operation.failure): \(reason(messages.bytes, end))",
                hint: "nothing was exported or imported")
        }
        guard output.isWhole else { throw .usage("the output of age is longer than \(limit) bytes") }
        return output.bytes
    }

    /// The first line without its prefix; age(1) has no particular exit statuses.
    private static func reason(_ messages: [UInt8], _ end: ProcessEnd) -> String {
        let line = String(decoding: messages.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        for start in ["age: error: ", "age: "] where line.hasPrefix(start) {
            return String(line.dropFirst(start.count))
        }
        return line.isEmpty ? "it ended with status \(end.shellStatus)" : line
    }

    // MARK: The process

    private static func spawn(
        _ arguments: [String], _ input: Pipe, _ output: Pipe, _ messages: Pipe
    ) throws(Failure) -> pid_t {
        do throws(SystemFailure) {
            var program = try ProgramStart(["age"] + arguments)
            let places = [(input.ends.reading, STDIN_FILENO), (output.ends.writing, STDOUT_FILENO)]
            for (end, number) in places + [(messages.ends.writing, STDERR_FILENO)] {
                program.pass(end?.number ?? -1, as: number)
            }
            return try program.start()
        } catch {
            guard error.number == ENOENT else { throw .internalError("\(error)") }
            throw .usage(
                "the program age is not on the PATH",
                hint: "install it (`sudo apt install age`), or use a passphrase without --recipient and --identity")
        }
    }

    /// Writes and reads at the same time, because age does, until it closes its output.
    private static func exchange(_ bytes: [UInt8], _ input: Pipe, _ outputs: [Pipe]) {
        var rest = bytes[...]
        while !rest.isEmpty || outputs.contains(where: { $0.ends.reading != nil }) {
            if rest.isEmpty { input.ends.writing = nil }
            let writing = input.ends.writing?.number ?? -1
            var waited = [pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)]
            waited += outputs.map { pollfd(fd: $0.ends.reading?.number ?? -1, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&waited, nfds_t(waited.count), -1) >= 0 || errno == EINTR else { return }
            if waited[0].revents != 0 {
                let count = unsafe rest.withUnsafeBytes { unsafe write(writing, $0.baseAddress, $0.count) }
                rest = count > 0 ? rest.dropFirst(count) : errno == EINTR || errno == EAGAIN ? rest : []
            }
            for (output, found) in zip(outputs, waited.dropFirst()) where found.revents != 0 { output.read() }
        }
    }

    private final class Pipe {
        var ends: (reading: Descriptor?, writing: Descriptor?)
        private(set) var bytes: [UInt8] = []
        private(set) var isWhole = true
        private let limit: Int

        init(atMost limit: Int = 0) throws(Failure) {
            self.limit = limit
            let pipe = try PipeEnds()
            ends = (pipe.reading, pipe.writing)
        }

        enum End {
            case reading, writing
        }

        /// Closes the child's end, and makes the other end non-blocking.
        func keepOnly(_ end: End) {
            if end == .reading { ends.writing = nil } else { ends.reading = nil }
            guard let descriptor = ends.reading ?? ends.writing else { return }
            _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
        }

        /// Reads what is there, and drops what is over the limit.
        func read() {
            guard let reading = ends.reading else { return }
            var part = [UInt8](repeating: 0, count: 16 << 10)
            let count = unsafe Glibc.read(reading.number, &part, part.count)
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { ends.reading = nil }
            guard count > 0 else { return }
            let accepted = min(count, limit - bytes.count)
            bytes += part[..<accepted]
            if accepted < count { isWhole = false }
        }
    }
}
