import NIOCore
import Synchronization

struct SeenRequest: Sendable {
    let method: String
    let target: String
    let headers: [(name: String, value: String)]
    let body: String

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// The server's side of a connection: requests read whole, answers written as bytes, so that they can be wrong.
struct LoopbackConnection {
    let channel: ByteChannel
    private var inbound: AsyncStream<ByteBuffer>.AsyncIterator
    private let log: LoopbackLog
    private var received: [UInt8] = []

    init(_ channel: ByteChannel, log: LoopbackLog) {
        self.channel = channel
        inbound = channel.inbound.makeAsyncIterator()
        self.log = log
    }

    /// Nil when the client has closed the connection.
    mutating func request() async -> SeenRequest? {
        let blank = Array("\r\n\r\n".utf8)
        var end: Int?
        while end == nil {
            end = received.indices.first { received[$0...].starts(with: blank) }
            guard end == nil else { break }
            guard await more() else { return nil }
        }
        let head = String(decoding: received[..<(end ?? 0)], as: UTF8.self)
        received.removeFirst((end ?? 0) + blank.count)
        let lines = head.split(separator: "\r\n")
        let start = lines.first?.split(separator: " ") ?? []
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts.count > 1 ? parts[1].drop { $0 == " " } : ""))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        while received.count < length {
            guard await more() else { return nil }
        }
        let seen = SeenRequest(
            method: String(start.first ?? ""), target: String(start.dropFirst().first ?? ""), headers: headers,
            body: String(decoding: received.prefix(length), as: UTF8.self))
        received.removeFirst(length)
        log.state.withLock { $0.requests.append(seen) }
        return seen
    }

    /// Answers every request alike until the client goes.
    mutating func answerAll(_ answer: String = LoopbackConnection.empty) async throws {
        while await request() != nil {
            try await write(answer)
        }
    }

    static let empty = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

    func write(_ text: String) async throws {
        try await channel.write(ByteBuffer(string: text))
    }

    func write(_ bytes: [UInt8]) async throws {
        try await channel.write(ByteBuffer(bytes: bytes))
    }

    /// The next bytes as they come, those already read first; nil at the end.
    mutating func bytes() async -> [UInt8]? {
        if received.isEmpty, !(await more()) { return nil }
        defer { received = [] }
        return received
    }

    /// Says nothing more, and returns when the client has gone.
    mutating func silence() async {
        while await more() {}
    }

    private mutating func more() async -> Bool {
        guard let next = await inbound.next(isolation: #isolation) else { return false }
        received += Array(next.readableBytesView)
        return true
    }
}
