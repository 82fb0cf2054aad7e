import NIOCore
import NIOPosix

/// A proxy that joins every `CONNECT` to a port of this machine, whatever name was asked for (RFC 9110 §9.3.6).
enum ConnectProxy {
    /// - Parameter password: the `user:password` in base64 that it wants to see; nil lets everyone through.
    static func script(password: String? = nil) -> LoopbackServer.Script {
        { connection in
            guard let request = await connection.request(), request.method == "CONNECT",
                let port = request.target.split(separator: ":").last.flatMap({ Int($0) })
            else { return }
            if let password, request.header("proxy-authorization") != "Basic \(password)" {
                return try await connection.write(
                    "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
            }
            let upstream = try await upstream(port)
            try await connection.write("HTTP/1.1 200 Connected\r\n\r\n")
            try await join(&connection, upstream)
        }
    }

    /// The same with SOCKS 5 (RFC 1928), for clients without a password that name the host.
    static let socks: LoopbackServer.Script = { connection in
        guard await connection.bytes() == [5, 1, 0] else { return }
        try await connection.write([5, 0])
        guard let request = await connection.bytes(), request.starts(with: [5, 1, 0, 3]) else { return }
        let upstream = try await upstream(Int(request[request.count - 2]) << 8 | Int(request[request.count - 1]))
        try await connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        try await join(&connection, upstream)
    }

    private static func upstream(_ port: Int) async throws -> ByteChannel {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try ByteChannel(feeding: channel) }
            }
    }

    /// Until both sides have closed.
    private static func join(_ connection: inout LoopbackConnection, _ upstream: ByteChannel) async throws {
        let client = connection.channel
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await upstream.whileOpen {
                    for await bytes in upstream.inbound { try await client.write(bytes) }
                }
            }
            while let bytes = await connection.bytes() {
                try await upstream.write(ByteBuffer(bytes: bytes))
            }
            group.cancelAll()
        }
    }
}
