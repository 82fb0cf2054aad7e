import AuthAgent
import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// Clients that keep sockets for bodies, or do not write to them.
@Suite("Clients that misuse sockets for bodies", .timeLimit(.minutes(1)))
struct BodySocketLimitTests {
    private typealias Upload = BodySocketRequestTests.Upload

    @Test("a client that never writes delays no other client, and its socket is closed at once")
    func silent() async throws {
        try await BodySocketRequestTests.play { rig, _ in
            try await onThread {
                let upload = try Upload(try rig.dial())
                let socket = try #require(try upload.socket().end)
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                #expect(try upload.client.ask("agent.ping", id: 5)["result"] != nil)
                try upload.client.send(RawClient.request("api.close", ["stream": "s"], id: 4))
                #expect(socket.isClosed())
            }
        }
    }

    /// splice(2) and gettid(2), which Glibc's module does not declare.
    private enum Call {
        typealias Splice =
            @convention(c) (
                CInt, UnsafeMutablePointer<Int64>?, CInt, UnsafeMutablePointer<Int64>?, Int, CUnsignedInt
            ) -> Int
        typealias ThreadID = @convention(c) () -> CInt

        static func splice(_ from: CInt, _ to: CInt) throws -> Int {
            guard let symbol = dlsym(nil, "splice") else { throw Failure("no splice") }
            return unsafeBitCast(symbol, to: Splice.self)(from, nil, to, nil, 1 << 16, 0)
        }

        static func threadID() throws -> CInt {
            guard let symbol = dlsym(nil, "gettid") else { throw Failure("no gettid") }
            return unsafeBitCast(symbol, to: ThreadID.self)()
        }
    }

    /// Whether the thread waits in a system call (proc_pid_stat(5), the state).
    private static func sleeps(_ thread: CInt) -> Bool {
        let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.hasPrefix(" S") == true
    }

    /// What a client splices into its end.
    enum Source: CaseIterable {
        /// A pipe with bytes, while the client's end is full: the kernel waits for room.
        case bytes
        /// A socket that never has bytes. If the client's end were a pipe, the kernel would hold the lock of both ends
        /// while it waits for bytes. The kernel refuses to splice from a socket into a socket.
        case silence

        fileprivate func ends() throws -> (reading: CInt, other: CInt) {
            var ends: [CInt] = [-1, -1]
            switch self {
            case .bytes:
                try #require(pipe(&ends) == 0)
                try #require(write(ends[1], "abc", 3) == 3)
            case .silence: try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            }
            return (ends[0], ends[1])
        }
    }

    @Test(
        "a splice into the client's end delays neither the agent's close nor other clients", arguments: Source.allCases)
    func splice(source: Source) async throws {
        try await BodySocketRequestTests.play { rig, _ in
            try await onThread {
                let upload = try Upload(try rig.dial(), size: 3)
                let socket = try #require(try upload.socket().end)
                #expect(socket.write("abc"))
                // The agent has read the three bytes, and reads no more than was announced.
                while try upload.socket(at: 7).answer["result"]?["next"] != 3 { rig.turn() }
                if source == .bytes {
                    while socket.write(String(repeating: "x", count: 1 << 12)) {}
                    // From now on, writes to it block.
                    try #require(fcntl(socket.number, F_SETFL, 0) == 0)
                }
                let (reading, other) = try source.ends()
                defer { for end in [reading, other] { close(end) } }
                let thread = Mutex<CInt>(0)
                let hasEnded = Mutex(false)
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    // The agent's close may end the splice with a signal.
                    var signals = sigset_t()
                    sigemptyset(&signals)
                    sigaddset(&signals, SIGPIPE)
                    pthread_sigmask(SIG_BLOCK, &signals, nil)
                    thread.withLock { $0 = (try? Call.threadID()) ?? -1 }
                    _ = try? Call.splice(reading, socket.number)
                    hasEnded.withLock { $0 = true }
                    done.signal()
                }
                defer {
                    // Ends the splice, whatever it waits for.
                    for end in [socket.number, other] { shutdown(end, CInt(SHUT_RDWR)) }
                    done.wait()
                }
                while thread.withLock({ $0 }) == 0 { rig.turn() }
                let number = thread.withLock { $0 }
                while !hasEnded.withLock({ $0 }), !Self.sleeps(number) { rig.turn() }

                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                if source == .bytes { #expect(!hasEnded.withLock { $0 }, "the splice ended before the agent's close") }
                try upload.client.send(RawClient.request("api.close", ["stream": "s"], id: 4))
                #expect(socket.isClosed())
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("a stream has a few sockets, each of which replaces the one before, then its body is sent in pieces")
    func several() async throws {
        try await BodySocketRequestTests.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial())
                var former: PassedSocket?
                for _ in 1...UploadPipe.socketsPerReading {
                    let socket = try #require(try upload.socket().end)
                    if let former { #expect(former.isClosed()) }
                    rig.turn()
                    #expect(rig.counters.openBodySockets == 1)
                    former = socket
                }
                let (answer, none) = try upload.socket()
                #expect(answer.errorKind == "busy" && none == nil, "\(answer.text())")
                #expect(rig.counters.bodySockets == UploadPipe.socketsPerReading)
                let piece: JSON = ["stream": "s", "offset": 0, "body_base64": "YWJj"]
                #expect(try upload.client.ask("api.write", piece, id: 5)["result"]?["next"] == 3)
                #expect(former?.isClosed() == true)
                let (_, call) = try upload.ending(at: 3)
                #expect(call?["status"] == 200 && transport.bodies == ["abc"], "\(upload.answers)")
            }
        }
    }

    @Test("the agent has a limited number, confined clients a part of it, and refusals are logged once a minute")
    func limited() async throws {
        var limits = ConnectionLimits()
        (limits.bodySockets, limits.confinedBodySockets) = (2, 1)
        var rules = ListenerRules()
        (rules.sessions, rules.classes, rules.methods) = ([try SessionName("sample")], [.act], ["api.request"])
        let lines = Lines()
        try await BodySocketRequestTests.play(limits: limits, rules: rules, time: ManualTime(), lines: lines) {
            rig, _ in
            try await onThread {
                let confined = [try Upload(try rig.dialExtra()), try Upload(try rig.dialExtra())]
                var held: [PassedSocket?] = [try confined[0].socket().end]
                #expect(held[0] != nil)
                let more = try confined[1].socket()
                #expect(more.answer.errorKind == "busy" && more.end == nil, "\(more.answer.text())")
                // The user's own programs have the rest.
                let own = [try Upload(try rig.dial()), try Upload(try rig.dial())]
                held.append(try own[0].socket().end)
                #expect(held[1] != nil && rig.counters.openBodySockets == 2)
                for _ in 1...20 { #expect(try own[1].socket().answer.errorKind == "busy") }
                let logged = lines.taken().filter { $0.contains("socket for a body") }
                #expect(logged.count == 1 && logged[0].hasPrefix("warning: "), "\(logged)")
                rig.pass(.seconds(60))
                let counted = lines.taken().filter { $0.contains("socket for a body") }
                #expect(counted == ["warning: 20 more requests for a socket for a body were refused within a minute."])
                // The client keeps its end, but the agent's is closed.
                try confined[0].client.send(RawClient.request("api.close", ["stream": "s"], id: 4))
                #expect(held[0]?.isClosed() == true)
                rig.turn()
                #expect(try own[1].socket().end != nil)
            }
        }
    }
}
