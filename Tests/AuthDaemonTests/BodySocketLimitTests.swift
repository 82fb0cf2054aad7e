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
    private typealias End = BodySocketRequestTests.End

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
    private static func sleeps(_ thread: CInt) throws -> Bool {
        let text = try String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
        return text.split(separator: ")").last?.hasPrefix(" S") == true
    }

    @Test("a splice from an empty pipe into the client's end delays neither the agent's close nor other clients")
    func splice() async throws {
        try await BodySocketRequestTests.play { rig, _ in
            try await onThread {
                let upload = try Upload(try rig.dial())
                let socket = try #require(try upload.socket().end)
                // The agent has read from it and waits for more.
                #expect(socket.write("abc"))
                var ends: [CInt] = [-1, -1]
                try #require(pipe(&ends) == 0)
                let (reading, writing) = (ends[0], ends[1])
                let thread = Mutex<CInt>(0)
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    thread.withLock { $0 = (try? Call.threadID()) ?? -1 }
                    _ = try? Call.splice(reading, socket.number)
                    done.signal()
                }
                while thread.withLock({ $0 }) == 0 { rig.turn() }
                let number = thread.withLock { $0 }
                while try !Self.sleeps(number) { rig.turn() }

                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                try upload.client.send(RawClient.request("api.close", ["stream": "s"], id: 4))
                #expect(socket.isClosed())
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                #expect(try Self.sleeps(number), "the splice has ended before the agent's close")
                close(writing)
                done.wait()
                close(reading)
            }
        }
    }

    @Test("a stream has a few sockets, each of which replaces the one before, then its body is sent in pieces")
    func several() async throws {
        try await BodySocketRequestTests.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial())
                var former: End?
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
                var held: [End?] = [try confined[0].socket().end]
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
