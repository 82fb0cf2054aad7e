import AuthModel
import AuthSockets
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Access to the page of a sign-in", .timeLimit(.minutes(1)))
struct RedirectAdmissionTests {
    private func listening(
        _ text: String = "http://127.0.0.1/callback", _ test: (any RedirectListener, Int) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await LoopbackRedirects(loop: group.next())
            .listen(at: try #require(LoopbackRedirect(text)), as: nil)
        let result: Result<Void, any Error>
        do {
            let port = try #require(listener.redirectURI.firstMatch(of: /:(\d+)\//)?.1)
            try await test(listener, try #require(Int(port)))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        listener.close()
        try await group.shutdownGracefully()
        try result.get()
    }

    /// A connection that sends one line to query the other end.
    private func exchange(_ port: Int, _ request: String?) async throws -> (socket: LoopbackClient, answer: String) {
        try await onThread {
            let client = try LoopbackClient(port: port)
            guard let request else { return (client, "") }
            return (client, client.ask(request))
        }
    }

    @Test("sixteen connections are served at once, the next is closed unread, and a free place is reused")
    func sixteen() async throws {
        #expect(RedirectAdmission.maxConnections == 16)
        try await listening { _, port in
            let request = "GET /other HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            var held: [LoopbackClient] = []
            for _ in 0..<RedirectAdmission.maxConnections { held.append(try await exchange(port, nil).socket) }
            #expect(try await exchange(port, request).answer == "")
            held.removeLast().close()
            // The listener notices it in a later turn of its loop.
            #expect(try await until { try await exchange(port, request).answer.contains("404") })
            for client in held { client.close() }
        }
    }

    @Test("a browser without a request head after 10 s is closed, one with it waits for its page")
    func head() throws {
        let (visits, arrivals) = AsyncStream<RedirectVisit>.makeStream()
        defer { withExtendedLifetime(visits) {} }
        func channel() throws -> (EmbeddedChannel, EmbeddedEventLoop) {
            let loop = EmbeddedEventLoop()
            let channel = EmbeddedChannel(handler: RedirectHandler(path: "/callback", arrivals: arrivals), loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            return (channel, loop)
        }
        let (silent, clock) = try channel()
        clock.advanceTime(by: .milliseconds(9999))
        #expect(silent.isActive)
        clock.advanceTime(by: .milliseconds(1))
        #expect(!silent.isActive)

        let (asking, later) = try channel()
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/callback?code=a", headers: ["Host": "127.0.0.1"])
        try asking.writeInbound(HTTPServerRequestPart.head(head))
        later.advanceTime(by: .seconds(329))
        #expect(asking.isActive)
        later.advanceTime(by: .seconds(1))
        #expect(!asking.isActive)
    }

    @Test("the kernel knows the owner of a connection, through netlink and its table", arguments: ["127.0.0.1", "::1"])
    func owner(host: String) async throws {
        let text = host == "::1" ? "http://[::1]/callback" : "http://127.0.0.1/callback"
        try await listening(text) { _, port in
            let client = try await onThread { try LoopbackClient(port: port, host: host) }
            let own = try SocketAddress(ipAddress: host, port: port)
            let peer = try SocketAddress(ipAddress: host, port: client.port)
            #expect(LoopbackPeer.userID(peer: peer, own: own) == geteuid())
            let pair = try #require(SocketPair(source: peer, destination: own))
            #expect(SocketTable.owner(of: pair) == .user(geteuid()))
            let other = try SocketAddress(ipAddress: host, port: client.port == 1 ? 2 : 1)
            #expect(LoopbackPeer.owner(peer: other, own: own) == .nobody)
            #expect(LoopbackPeer.userID(peer: other, own: own) == nil)
            let missing = try #require(SocketPair(source: other, destination: own))
            #expect(SocketTable.owner(of: missing) == .nobody)
            client.close()
        }
    }

    @Test("a kernel that cannot be asked does not say that the socket is gone")
    func failures() throws {
        #expect(LoopbackPeer.owner(after: ENOENT) == .nobody)
        for failure in [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EBADMSG, EPERM] {
            #expect(LoopbackPeer.owner(after: failure) == .unknown)
        }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        let pair = try #require(SocketPair(source: address, destination: address))
        // A folder can be opened, but not read.
        #expect(SocketTable.owner(of: pair, in: "/proc/net") == .unknown)
        #expect(SocketTable.owner(of: pair, in: "/proc/net/no-such-table") == .nobody)
    }

    @Test("in the kernel's table a socket without an owner is not root's")
    func table() throws {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1145 1 0
               1: 0100007F:B56A 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0
               2: 0100007F:B56B 0100007F:0050 05 00000000:00000000 00:00000000 00000000     0        0 0 3 0
            """
        func owner(_ port: Int) throws -> uid_t? {
            let pair = try #require(
                SocketPair(
                    source: SocketAddress(ipAddress: "127.0.0.1", port: port),
                    destination: SocketAddress(ipAddress: "127.0.0.1", port: 80)))
            return SocketTable.userID(of: pair, in: Array(table.utf8))
        }
        #expect(try owner(0xB56A) == 1000)
        #expect(try owner(0xB56B) == nil)
        #expect(try owner(0xB56C) == nil)
    }

    @Test("an IPv6 socket that is used for IPv4 is found too")
    func mapped() throws {
        let table = """
              sl  local_address                         remote_address                        st tx_queue rx_queue
               0: 0000000000000000FFFF00000100007F:B56A 0000000000000000FFFF00000100007F:0050 01 00000000:00000000 \
            00:00000000 00000000  1000        0 4711 1 0
            """
        let pair = try #require(
            SocketPair(
                source: SocketAddress(ipAddress: "127.0.0.1", port: 0xB56A),
                destination: SocketAddress(ipAddress: "127.0.0.1", port: 80)))
        #expect(SocketTable.userID(of: pair.mapped, in: Array(table.utf8)) == 1000)
    }
}

/// `Tests/run-suites` skips suites with this name unless it runs as root: only root can become another user.
@Suite("Another user of the machine and the page of a sign-in (as root)", .timeLimit(.minutes(1)))
struct RedirectAdmissionRootTests {
    /// The user nobody: no test runs as it.
    private static let otherUserID = 65534

    private func curl(_ url: String, as userID: Int?) async throws -> Child.Output {
        let command = ["curl", "--silent", "--show-error", "--include", "--noproxy", "*", "--max-time", "20", url]
        let become = userID.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups", "--"] } ?? []
        return try await Child(become + command, environment: ["PATH": "/usr/bin:/bin"]).output()
    }

    @Test(
        "reaches nothing, occupies no place, and cannot end the sign-in",
        arguments: ["127.0.0.1", "localhost", "[::1]"])
    func otherUser(host: String) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await LoopbackRedirects(loop: group.next())
            .listen(at: try #require(LoopbackRedirect("http://\(host)/callback")), as: nil)
        let url = listener.redirectURI + "?code=a&state=b"
        for _ in 0...RedirectAdmission.maxConnections {
            let refused = try await curl(url, as: Self.otherUserID)
            #expect(refused.status != 0 && refused.out.isEmpty, "\(refused.out)\(refused.err)")
        }
        async let shown = curl(url, as: nil)
        for await visit in listener.visits {
            #expect(visit.query == "code=a&state=b")
            visit.show(.done("Example"))
            break
        }
        #expect(try await shown.out.contains("Signed in to Example"))
        listener.close()
        for await _ in listener.visits { Issue.record("another user's request was taken for a visit") }
        try await group.shutdownGracefully()
    }
}

/// A local TCP client. It blocks: use it in `onThread`.
private final class LoopbackClient: Sendable {
    private let descriptor: Int32
    /// Its own port.
    let port: Int

    init(port: Int, host: String = "127.0.0.1") throws {
        let address = try SocketAddress(ipAddress: host, port: port)
        descriptor = socket(host.contains(":") ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let descriptor = descriptor
        let connected = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        guard connected == 0 else { throw Failure("connect: \(String(cString: strerror(errno)))") }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var own = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        }
        // The port has the same place in both kinds of address.
        self.port = Int(UInt16(bigEndian: own.sin6_port))
    }

    /// Everything until the other side closes.
    func ask(_ request: String) -> String {
        let bytes = Array(request.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
        close()
        return String(decoding: answer, as: UTF8.self)
    }

    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { Foundation.close(descriptor) }
}
