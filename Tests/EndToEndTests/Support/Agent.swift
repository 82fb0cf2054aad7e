import AuthWire
import Foundation

/// The programs as they were built, beside the test bundle.
enum Programs {
    static let folder: String = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        return (bundle as NSString).deletingLastPathComponent
    }()
    static var authd: String { folder + "/authd" }
    static var authc: String { folder + "/authc" }
    static var standIns: String { folder + "/stand-in-backends" }
}

/// A running authd, started as systemd would: with a socket that hears when it is ready.
final class Agent: Sendable {
    let child: Child
    let notifications: NotifySocket
    private let desktop: Desktop

    init(on desktop: Desktop, _ arguments: [String] = [], with more: [String: String] = [:]) async throws {
        self.desktop = desktop
        notifications = try NotifySocket(at: desktop.folder.path + "/notify")
        var environment = desktop.environment.merging(more) { $1 }
        environment["NOTIFY_SOCKET"] = notifications.path
        child = try await Child([Programs.authd, "--log-level", "trace"] + arguments, environment: environment)
        let ready = Signal<Bool>()
        child.whenEnded { _ in ready.send(false) }
        notifications.onMessage { message in
            if message.contains("READY=1") { ready.send(true) }
        }
        guard await ready.value() else { throw Failure("authd did not become ready: \(await child.err.all())") }
    }

    /// Runs `authc` as a person would in a script.
    func authc(_ arguments: String..., input: String? = nil) async throws -> Child.Output {
        try await desktop.run([Programs.authc] + arguments, input: input)
    }

    /// What `authc --json` answered.
    func json(_ arguments: String...) async throws -> JSON {
        let output = try await desktop.run([Programs.authc] + arguments + ["--json"])
        // 3 tells of a session that must be signed in again, and shows it all the same.
        guard [0, 3].contains(output.status) else {
            throw Failure("authc \(arguments): \(output.status) \(output.out)\(output.err)")
        }
        return try JSON(parsing: Array(output.out.utf8))
    }

    func status(_ session: String) async throws -> SessionStatus {
        try SessionStatus(await json("status", "-s", session))
    }
}

/// A datagram socket that hears what a service tells its manager (sd_notify(3)).
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let listener = Signal<@Sendable (String) -> Void>()

    init(at path: String) throws {
        self.path = path
        unlink(path)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
        let (heard, listener) = (descriptor, listener)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = recv(heard, &buffer, buffer.count, 0)
                // An empty datagram is our own word that the test is over.
                guard count > 0 else { break }
                let message = String(decoding: buffer[..<count], as: UTF8.self)
                listener.whenSent { $0(message) }
            }
            close(heard)
        }
    }

    func onMessage(_ callback: @escaping @Sendable (String) -> Void) {
        listener.send(callback)
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
