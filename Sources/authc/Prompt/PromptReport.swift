import AuthConnection
import AuthWire
import CLinux
import Glibc

/// `authc prompt`: prints the prompt file's line as the settings format it, without calling the agent. Prints nothing
/// if there is no file, if the agent that wrote it has ended, or if the file belongs to another user.
enum PromptReport {
    private struct Line {
        let words: String
        let isShownWhole: Bool
    }

    static func run(_ options: Options) throws(Failure) -> ExitStatus {
        let socket = try options.socketPath()
        let text = try read(PromptPath.beside(socket: socket)).map { Visible.line(shown($0, socket)) }
        if options.json {
            try Output.json(.object(["prompt": text.map(JSON.string) ?? .null]))
        } else if let text, !text.isEmpty {
            try Output.result(text)
        }
        return .done
    }

    /// Whether the file names an agent that runs. This does not start one.
    static func namesAgent(_ options: Options) -> Bool {
        guard let socket = try? options.socketPath() else { return false }
        return (try? read(PromptPath.beside(socket: socket))) != nil
    }

    private static func shown(_ line: Line, _ socket: String) -> String {
        guard !line.words.isEmpty else { return "" }
        let settings = PromptSettings.inUse
        if settings.areStandard, line.isShownWhole { return line.words }
        guard settings.folderOnly else { return PromptText(settings: settings, wanted: nil).text(of: line.words) }
        let named = environmentValue("AUTHD_SESSION").flatMap { $0.isEmpty ? nil : $0 }
        let wanted = named ?? FolderSession.current(socket: socket)?.text
        return PromptText(settings: settings, wanted: wanted).text(of: line.words)
    }

    private static func read(_ path: String) throws(Failure) -> Line? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw .internalError("cannot open \(path) (\(SystemError.text(errno)))")
            }
            return nil
        }
        let file = Descriptor(number)
        var found = stat()
        guard unsafe fstat(file.number, &found) == 0 else {
            throw .internalError("cannot read \(path) (\(SystemError.text(errno)))")
        }
        guard PromptReading.isTrusted(owner: found.st_uid, user: geteuid()) else { return nil }
        var code: Int32 = 0
        let text = unsafe String(unsafeUninitializedCapacity: PromptReading.longest) { room in
            let count = unsafe Glibc.read(file.number, room.baseAddress, room.count)
            if count < 0 { code = errno }
            return max(0, count)
        }
        guard code == 0 else { throw .internalError("cannot read \(path) (\(SystemError.text(code)))") }
        // A process of another user is not the agent. /proc cannot tell: with hidepid=2, only root sees a process whose memory
        // is closed, as the agent's is (proc(5)).
        guard let reading = PromptReading(text.utf8Span.span), kill(reading.agent, 0) == 0 else { return nil }
        let words = Substring(text.utf8.dropFirst(reading.words.lowerBound).prefix(reading.words.count))
        return Line(words: String(words), isShownWhole: reading.isShownWhole)
    }
}
