import AuthGateway
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthFront

@Suite("Clients of a front that close their side first", .timeLimit(.minutes(1)))
struct HalfClosedTests {
    private static func get(_ target: String, _ scene: FrontScene, tcp: Bool, _ more: String = "") -> String {
        let (path, host) = tcp ? ("/\(FrontScene.key)", "localhost:\(scene.port)") : ("", "localhost")
        return "GET \(path)\(target) HTTP/1.1\r\nHost: \(host)\r\n\(more)\r\n"
    }

    private static func client(_ scene: FrontScene, tcp: Bool) throws -> RawClient {
        tcp ? try RawClient(port: scene.port) : try RawClient(scene.path)
    }

    @Test("a client that has sent its request and sends no more gets the response", arguments: [false, true])
    func response(tcp: Bool) async throws {
        let gate = Gate()
        let service = WholeResponses { request in
            if request.target == "/late" { await gate.wait() }
            return FrontResponse(status: 200, body: Array(request.target.utf8))
        }
        try await FrontScene.play({ $0.presenceInterval = .milliseconds(1) }, service: service) { scene in
            let late = Self.get("/late", scene, tcp: tcp)
            async let answer = onThread {
                let client = try Self.client(scene, tcp: tcp)
                try client.send(late)
                client.endWriting()
                return try client.rest()
            }
            await gate.entered()
            // The server has seen the end when it has served others after it.
            for _ in 1...3 {
                let other = Self.get("/a", scene, tcp: tcp, "Connection: close\r\n")
                #expect(try await scene.send(other, tcp: tcp).hasSuffix("\r\n\r\n/a"))
            }
            await gate.open()
            let text = try await answer
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\n/late"), "\(text)")
            #expect(text.contains("Connection: close"), "\(text)")
        }
    }

    @Test("all requests that were sent before the end are answered, bodies too", arguments: [false, true])
    func all(tcp: Bool) async throws {
        try await FrontScene.play(service: Uploads()) { scene in
            let requests = [300_000, 0, 5].map { length in
                let (path, host) = tcp ? ("/\(FrontScene.key)", "localhost:\(scene.port)") : ("", "localhost")
                return "POST \(path)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(length)\r\n\r\n"
                    + String(repeating: "x", count: length)
            }
            let answer = try await onThread {
                let client = try Self.client(scene, tcp: tcp)
                try client.send(requests.joined())
                client.endWriting()
                return try client.rest()
            }
            let bodies = answer.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.prefix(while: \.isNumber) }
            #expect(bodies == ["300000", "0", "5"], "\(answer)")
        }
    }

    @Test("a client that ends within a request is disconnected", arguments: ["GET / HT", "POST / HTTP/1.1\r\n"])
    func unfinished(text: String) async throws {
        try await FrontScene.play(service: Uploads()) { scene in
            let body = text.hasPrefix("POST") ? "Host: a\r\nContent-Length: 9\r\n\r\nabc" : ""
            let answer = try await onThread {
                let client = try RawClient(scene.path)
                try client.send(text + body)
                client.endWriting()
                return try client.rest()
            }
            #expect(answer == "")
        }
    }

    @Test("part of another request before the end does not cut off the response before it", arguments: [false, true])
    func fragment(tcp: Bool) async throws {
        let gate = Gate()
        let body = Array(repeating: UInt8(ascii: "x"), count: 8 << 20)
        let service = WholeResponses { request in
            guard request.target == "/a" else { return FrontResponse(status: 200, body: []) }
            await gate.wait()
            return FrontResponse(status: 200, body: body)
        }
        try await FrontScene.play(service: service) { scene in
            let requests = Self.get("/a", scene, tcp: tcp) + "GET / HT"
            async let answer = onThread {
                let client = try Self.client(scene, tcp: tcp)
                try client.send(requests)
                client.endWriting()
                return try client.rest()
            }
            await gate.entered()
            // The server has seen the end when it has served others after it.
            for _ in 1...3 {
                _ = try await scene.send(Self.get("/", scene, tcp: tcp, "Connection: close\r\n"), tcp: tcp)
            }
            await gate.open()
            let text = try await answer
            #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text.prefix(100))")
            #expect(text.utf8.reversed().prefix { $0 == UInt8(ascii: "x") }.count == body.count, "\(text.utf8.count)")
        }
    }

    @Test("the kernel does not enlarge the receive buffer of a port, which is read at once when a client ends its side")
    func receiveBuffer() async throws {
        let plain = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(plain) }
        var (size, length) = (CInt(FrontLimits.receiveBytes), socklen_t(MemoryLayout<CInt>.size))
        #expect(setsockopt(plain, SOL_SOCKET, SO_RCVBUF, &size, length) == 0)
        #expect(getsockopt(plain, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0)
        let fixed = size
        try await FrontScene.play(service: ReceiveBuffers()) { scene in
            let answer = try await scene.send(Self.get("/", scene, tcp: true, "Connection: close\r\n"), tcp: true)
            #expect(answer.hasSuffix("\r\n\r\n\(fixed)"), "\(answer)")
        }
    }

    @Test(
        "a client that closes the connection is noticed, at once or after it sends no more", arguments: [false, true])
    func gone(tcp: Bool) async throws {
        for endsFirst in [false, true] {
            let service = Silence()
            try await FrontScene.play({ $0.presenceInterval = .milliseconds(1) }, service: service) { scene in
                let request = Self.get("/", scene, tcp: tcp)
                try await onThread {
                    let client = try Self.client(scene, tcp: tcp)
                    try client.send(request)
                    if endsFirst { client.endWriting() }
                    withExtendedLifetime(client) {
                        while service.begun.withLock({ $0 }) == 0 { _ = client.isHungUp }
                        #expect(service.abandoned.withLock { $0 } == 0)
                    }
                }
                let isNoticed = try await until {
                    await Task.yield()
                    return service.abandoned.withLock { $0 } == 1
                }
                #expect(isNoticed, "\(endsFirst)")
            }
        }
    }
}
