import Foundation
import Synchronization

/// The folders of a person who has nothing yet.
struct Home: Sendable {
    let folder: TemporaryFolder
    var runtime: String { folder.path + "/run" }
    var socket: String { runtime + "/authd/socket" }

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.path + "/run", 0o700)
    }

    var environment: [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin", "HOME": folder.path,
            "XDG_RUNTIME_DIR": runtime, "XDG_CONFIG_HOME": folder.path + "/config",
        ]
    }
}

/// A process of a test's own that speaks to a service manager: the test. It ends with the test.
final class Program: Sendable {
    static let authd: String = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path + "/authd"
    }()

    private let process = Process()
    private let told = Inbox<String>()
    private let exit = Inbox<Int32>()
    private let out = Inbox<String>()
    private let err = Inbox<String>()

    /// - Parameter through: a program that runs it, with its own arguments.
    init(
        _ home: Home, _ arguments: [String], program: String = Program.authd, through: [String] = [],
        first: [String] = [], watchdog: Duration? = nil
    ) throws {
        let notify = home.folder.path + "/notify-\(UInt32.random(in: 0 ... .max))"
        var environment = home.environment
        environment["NOTIFY_SOCKET"] = notify
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog.components.attoseconds / 1_000_000_000_000)" }
        let passed = through.isEmpty ? [] : environment.keys.flatMap { ["-E", $0] }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["setpriv", "--pdeathsig", "KILL", "--"] + through.prefix(1) + passed + through.dropFirst() + [program]
            + first + arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        try Self.listen(at: notify, told)
        process.standardOutput = Self.gather(into: out)
        process.standardError = Self.gather(into: err)
        let exit = exit
        process.terminationHandler = { process in
            exit.put((process.terminationReason == .uncaughtSignal ? 128 : 0) + process.terminationStatus)
        }
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Returns when it says that it is ready; fails when it ends before.
    func ready() async throws { try await hears { $0.contains("READY=1") } }

    /// Waits for such a word to the service manager among those not waited for yet.
    @discardableResult
    func hears(_ wanted: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await onThread { [told] in
            while let text = told.take(within: 20) { if wanted(text) { return text } }
            throw Failure("the service manager was not told in 20 s")
        }
    }

    func ended() async throws -> Int32 {
        try await onThread { [exit] in
            guard let status = exit.take(within: 20) else { throw Failure("it did not end in 20 s") }
            return status
        }
    }

    func end(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        self.signal(signal)
        return try await ended()
    }

    /// Whole, once it has ended.
    func output() async -> String { (try? await onThread { [out] in out.take(within: 20) }) ?? "" }
    func errors() async -> String { (try? await onThread { [err] in err.take(within: 20) }) ?? "" }

    private static func gather(into inbox: Inbox<String>) -> Pipe {
        let pipe = Pipe()
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread {
            inbox.put(String(decoding: handle.readDataToEndOfFile(), as: UTF8.self))
        }
        return pipe
    }

    /// sd_notify(3): one datagram a word.
    private static func listen(at path: String, _ inbox: Inbox<String>) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
        // A test is over long before: then the thread ends by itself.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 8192)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                inbox.put(String(decoding: buffer[..<count], as: UTF8.self))
            }
            close(descriptor)
        }
    }
}

/// What threads give one another, in order.
final class Inbox<Value: Sendable>: @unchecked Sendable {
    // @unchecked Sendable: `values` is touched only while `condition` is held.
    private let condition = NSCondition()
    private var values: [Value] = []

    func put(_ value: Value) {
        condition.lock()
        values.append(value)
        condition.signal()
        condition.unlock()
    }

    /// The oldest; `nil` when none has come in time.
    func take(within seconds: TimeInterval) -> Value? {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while values.isEmpty { if !condition.wait(until: end) { return nil } }
        return values.removeFirst()
    }
}
