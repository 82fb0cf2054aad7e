import AuthGateway
import AuthModel
import AuthSockets
import AuthWire
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import AuthFront

/// A front that answers with the target of the request.
struct FrontScene: Sendable {
    let server: FrontServer
    let folder: TemporaryFolder
    let path: String
    let port: Int

    static let key = "0123456789abcdefghijkl"

    static func play(
        _ change: (inout FrontLimits) -> Void = { _ in },
        service: any FrontService = WholeResponses { FrontResponse(status: 200, body: Array($0.target.utf8)) },
        _ test: (FrontScene) async throws -> Void
    ) async throws {
        var limits = FrontLimits()
        change(&limits)
        let folder = try TemporaryFolder()
        let path = folder.path + "/socket"
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let unix = FrontServer(
            [try FrontSocket.open(.unix(path: path))], access: FrontAccess(), limits: limits, service: service,
            group: group)
        let socket = try FrontSocket.open(.loopback(host: "127.0.0.1", port: 0))
        guard case .loopback(_, let port) = socket.address else { throw Failure("no port") }
        let access = FrontAccess(key: try FrontKey(text: key))
        let tcp = FrontServer([socket], access: access, limits: limits, service: service, group: group)
        try await unix.listen()
        try await tcp.listen()
        let result: Result<Void, any Error>
        do {
            try await test(FrontScene(server: unix, folder: folder, path: path, port: port))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await unix.drain()
        await tcp.drain()
        try await group.shutdownGracefully()
        try result.get()
    }

    /// What comes until the connection ends.
    func send(_ text: String, tcp: Bool = false) async throws -> String {
        let (path, port) = (path, port)
        return try await onThread {
            let client = tcp ? try RawClient(port: port) : try RawClient(path)
            try client.send(text)
            return try client.rest()
        }
    }
}

@Suite("The HTTP server for the user's own programs", .timeLimit(.minutes(1)))
struct FrontServerTests {
    private static let get = "GET /a?b HTTP/1.1\r\nHost: localhost\r\n"

    @Test("requests of one connection are answered in their order, and the last one ends it")
    func requests() async throws {
        try await FrontScene.play { scene in
            let answer = try await scene.send(Self.get + "\r\n" + Self.get + "Connection: close\r\n\r\n")
            let heads = answer.components(separatedBy: "HTTP/1.1 200 OK\r\n")
            try #require(heads.count == 3, "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\n/a?b"), "\(answer)")
            #expect(heads[2].contains("Connection: close") && !heads[1].contains("Connection"))
            let old = try await scene.send("GET /old HTTP/1.0\r\n\r\n")
            #expect(old.hasPrefix("HTTP/1.1 200 OK\r\n") && old.hasSuffix("/old"))
        }
    }

    @Test("the socket's file has mode 0600, is removed at the end, and is used by one program")
    func file() async throws {
        try await FrontScene.play { scene in
            #expect(try FileManager.default.attributesOfItem(atPath: scene.path)[.posixPermissions] as? Int == 0o600)
            #expect(throws: FrontSocket.Refusal.inUse(scene.path)) { try FrontSocket.open(.unix(path: scene.path)) }
            let shared = try scene.folder.folder("shared")
            chmod(shared, 0o755)
            #expect(throws: FrontSocket.Refusal.self) { try FrontSocket.open(.unix(path: shared + "/socket")) }
            await scene.server.drain()
            #expect(!FileManager.default.fileExists(atPath: scene.path))
        }
    }

    @Test("a port serves the key's holder under its own names only")
    func port() async throws {
        try await FrontScene.play({ $0.lingerTime = .milliseconds(50) }) { scene in
            func ask(_ target: String, _ host: String, _ more: String = "") async throws -> String {
                try await scene.send(
                    "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)\r\n", tcp: true)
            }
            let own = "localhost:\(scene.port)"
            #expect(try await ask("/\(FrontScene.key)/a", own).hasSuffix("\r\n\r\n/a"))
            #expect(try await ask("/a", own).hasPrefix("HTTP/1.1 403 "))
            #expect(try await ask("/\(FrontScene.key)/a", "evil.example:\(scene.port)").hasPrefix("HTTP/1.1 421 "))
            let page = try await ask("/\(FrontScene.key)/a", own, "Origin: http://evil.example\r\n")
            #expect(page.hasPrefix("HTTP/1.1 403 ") && page.contains("application/problem+json"))
            #expect(!page.contains(FrontScene.key) && page.contains(#""source":"authd""#))
        }
    }

    @Test("what is not HTTP, or could be read in two ways, gets 400 and the end of the connection")
    func malformed() async throws {
        try await FrontScene.play({ $0.lingerTime = .milliseconds(50) }) { scene in
            for lines in [
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
                "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "nonsense\r\n\r\n",
                "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
            ] {
                let answer = try await scene.send(lines)
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(lines): \(answer)")
                #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answer)")
            }
            #expect(
                try await scene.send("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n")
                    .hasPrefix("HTTP/1.1 405 "))
        }
    }

    @Test("a head of more than 64 KiB gets 431", arguments: ["X-A: ", "X-B"])
    func largeHead(field: String) async throws {
        try await FrontScene.play({ $0.lingerTime = .milliseconds(50) }) { scene in
            let line =
                field == "X-B" ? String(repeating: "X-B: \(String(repeating: "b", count: 1000))\r\n", count: 70) : ""
            let long = field == "X-B" ? line : field + String(repeating: "a", count: 70_000) + "\r\n"
            let answer = try await scene.send(Self.get + long + "\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 431 "), "\(answer)")
        }
    }

    @Test("a client that sends no head, or not all of a body, is disconnected")
    func slow() async throws {
        try await FrontScene.play({ $0.headTime = .milliseconds(50) }) { scene in
            let nothing = try await scene.send("GET / HTTP/1.1\r\nHost:")
            #expect(nothing == "")
        }
        try await FrontScene.play({ $0.stallTime = .milliseconds(50) }, service: Uploads()) { scene in
            let body = try await scene.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
            #expect(body.hasPrefix("HTTP/1.1 408 "), "\(body)")
        }
    }

    @Test("a body is read as fast as the service accepts it, and arrives whole")
    func upload() async throws {
        try await FrontScene.play(service: Uploads()) { scene in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            let text = String(repeating: "x", count: 300_000)
            #expect(
                try await scene.send(head + "Content-Length: 300000\r\n\r\n" + text).hasSuffix("\r\n\r\n300000"))
            let chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            #expect(try await scene.send(head + chunks).hasSuffix("\r\n\r\n5"))
            let waiting = try await scene.send(head + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab")
            #expect(waiting.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), "\(waiting)")
        }
    }

    @Test("a response that begins before the end of a long body is not lost")
    func early() async throws {
        try await FrontScene.play(service: Immediate()) { scene in
            let head = "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n"
            let answer = try await scene.send(head + String(repeating: "x", count: 500_000))
            #expect(answer.contains("Connection: close") && answer.hasSuffix("/early"), "\(answer)")
        }
    }

    @Test("the last response of a connection is not cut off while its client is slow to read it")
    func late() async throws {
        try await FrontScene.play({ $0.lingerTime = .milliseconds(50) }, service: Pieces()) { scene in
            let path = scene.path
            let rest = try await onThread {
                let client = try RawClient(path)
                try client.send(Self.get + "Connection: close\r\n\r\n")
                // The server has continued to send after the end of the response.
                for _ in 1...8000 { _ = try client.line() }
                // Another connection is closed when the time for the last response is over.
                let other = try RawClient(path)
                try other.send("nonsense\r\n\r\n")
                #expect(try other.rest().hasPrefix("HTTP/1.1 400 "))
                return try client.rest()
            }
            #expect(rest.hasSuffix("\r\n0\r\n\r\n"))
        }
    }

    @Test("the rest of a body is read after a response that did not wait for it")
    func refusedUpload() async throws {
        try await FrontScene.play({ $0.lingerTime = .seconds(60) }, service: Refusals()) { scene in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n"
            let answer = try await scene.send(head + String(repeating: "x", count: 20_000_000))
            #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.hasSuffix("refused"), "\(answer)")
        }
    }

    @Test("a service learns that a response was not completed")
    func aborted() async throws {
        let service = Aborts()
        try await FrontScene.play(service: service) { scene in
            let begun = try await scene.send(Self.get + "\r\n")
            #expect(begun.hasSuffix("begun\r\n"), "\(begun)")
        }
        #expect(service.abandoned.withLock { $0 } == 1)
    }

    @Test("more connections than the limit are closed unread, and a free place is used again")
    func crowd() async throws {
        try await FrontScene.play({ $0.connections = 2 }) { scene in
            let path = scene.path
            try await onThread {
                let held = [try RawClient(path), try RawClient(path)]
                for client in held {
                    try client.send(Self.get + "\r\n")
                    #expect(try client.line() == "HTTP/1.1 200 OK\r")
                }
                #expect(try RawClient(path).rest() == "")
            }
            // The server notices the ends in a later turn of its loop.
            #expect(
                try await until {
                    (try? await scene.send(Self.get + "Connection: close\r\n\r\n").hasPrefix("HTTP/1.1 200")) ?? false
                })
        }
    }

    @Test("at the limit, the oldest connection without an admitted request gives way, and others do not")
    func silentCrowd() async throws {
        try await FrontScene.play({ $0.connections = 2 }) { scene in
            let path = scene.path
            try await onThread {
                let served = try RawClient(path)
                try served.send(Self.get + "\r\n")
                #expect(try served.line() == "HTTP/1.1 200 OK\r")
                var silent = try RawClient(path)
                for _ in 1...3 {
                    let next = try RawClient(path)
                    #expect(try silent.rest() == "")
                    silent = next
                }
                try silent.send(Self.get + "\r\n")
                #expect(try silent.line() == "HTTP/1.1 200 OK\r")
                #expect(try RawClient(path).rest() == "")
                // With the rest of the first response before it.
                try served.send(Self.get + "Connection: close\r\n\r\n")
                #expect(try served.rest().contains("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    @Test("at the end, idle connections are closed at once and requests in progress get their response")
    func drain() async throws {
        let gate = Gate()
        try await FrontScene.play(
            service: WholeResponses { _ in
                await gate.wait()
                return FrontResponse(status: 200, body: Array("late".utf8))
            }
        ) { scene in
            let answer = Task { try await scene.send(Self.get + "\r\n") }
            await gate.entered()
            let drained = Task { await scene.server.drain() }
            let isGone = try await until {
                await Task.yield()
                return !FileManager.default.fileExists(atPath: scene.path)
            }
            #expect(isGone)
            await gate.open()
            #expect(try await answer.value.hasSuffix("late"))
            await drained.value
        }
    }
}

/// `Tests/run-suites` skips suites with this name unless it runs as root: only root can become another user.
@Suite("Another user of the machine and a front (as root)", .timeLimit(.minutes(1)))
struct FrontRootTests {
    @Test("gets nothing from a port, even with its key")
    func otherUser() async throws {
        try await FrontScene.play { scene in
            func curl(_ become: [String]) async throws -> Child.Output {
                let url = "http://127.0.0.1:\(scene.port)/\(FrontScene.key)/a"
                let command = ["curl", "--silent", "--noproxy", "*", "--max-time", "20", url]
                return try await Child(become + command, environment: ["PATH": "/usr/bin:/bin"]).output()
            }
            let refused = try await curl(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            #expect(refused.status != 0 && refused.out.isEmpty)
            #expect(try await curl([]).out == "/a")
        }
    }
}
