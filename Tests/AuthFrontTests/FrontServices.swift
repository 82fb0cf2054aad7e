import AuthGateway
import NIOCore
import Synchronization

@testable import AuthFront

// What the tests' fronts answer with.

/// Holds a response until the test opens it.
actor Gate {
    private var isEntered = false
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        isEntered = true
        resume()
        while !isOpen { await next() }
    }

    func entered() async { while !isEntered { await next() } }

    func open() {
        isOpen = true
        resume()
    }

    private func next() async { await withCheckedContinuation { waiting.append($0) } }

    private func resume() {
        defer { waiting = [] }
        for continuation in waiting { continuation.resume() }
    }
}

/// Counts the bytes of a body.
struct Uploads: FrontService {
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        connection.requestBody()
        return Count(connection)
    }

    private final class Count: FrontExchange {
        private let connection: FrontConnection
        private var count = 0

        init(_ connection: FrontConnection) {
            self.connection = connection
        }

        func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
            count += piece.readableBytes
            return connection.eventLoop.scheduleTask(in: .nanoseconds(1)) {}.futureResult
        }

        func endBody() { connection.respond(FrontResponse(status: 200, body: Array("\(count)".utf8))) }
        func abandon() {}
    }
}

/// Sends many pieces at once, and the end, before the client has read any.
struct Pieces: FrontService {
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        _ = connection.begin(status: 200, fields: [])
        for _ in 1...4000 { _ = connection.send(ByteBuffer(string: String(repeating: "x", count: 500) + "\n")) }
        connection.finish()
        return Nothing(connection)
    }
}

/// Answers with SO_RCVBUF of the connection.
struct ReceiveBuffers: FrontService {
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        let size = connection.channel.getOption(.socketOption(.so_rcvbuf)).assumeIsolated()
        size.whenSuccess { connection.respond(FrontResponse(status: 200, body: Array("\($0)".utf8))) }
        return Nothing(connection)
    }
}

/// Answers before any piece of a body.
struct Immediate: FrontService {
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        connection.respond(FrontResponse(status: 200, body: Array(request.target.utf8)))
        return Nothing(connection)
    }
}

/// Answers at the first piece of a body, and accepts no piece before the next request.
struct Refusals: FrontService {
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange { Refusal(connection) }

    private final class Refusal: FrontExchange {
        private let connection: FrontConnection
        private let accepted: EventLoopPromise<Void>

        init(_ connection: FrontConnection) {
            self.connection = connection
            accepted = connection.eventLoop.makePromise()
            connection.channel.closeFuture.cascade(to: accepted)
        }

        func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
            let loop = connection.eventLoop.assumeIsolated()
            loop.execute { [connection] in
                connection.respond(FrontResponse(status: 401, body: Array("refused".utf8)))
            }
            return accepted.futureResult
        }

        func endBody() {}
        func abandon() {}
    }
}

/// Begins responses that it does not complete.
final class Aborts: FrontService {
    let abandoned = Mutex(0)

    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        Abort(self, connection)
    }

    private final class Abort: FrontExchange {
        private let service: Aborts
        private let connection: FrontConnection

        init(_ service: Aborts, _ connection: FrontConnection) {
            self.service = service
            self.connection = connection
        }

        func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> { connection.eventLoop.makeSucceededVoidFuture() }

        func endBody() {
            _ = connection.begin(status: 200, fields: [])
            _ = connection.send(ByteBuffer(string: "begun"))
            connection.abort()
        }

        func abandon() { service.abandoned.withLock { $0 += 1 } }
    }
}

/// Never answers, and counts the requests and those whose clients have gone.
final class Silence: FrontService {
    let begun = Mutex(0)
    let abandoned = Mutex(0)

    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        begun.withLock { $0 += 1 }
        return Silent(self, connection)
    }

    private final class Silent: FrontExchange {
        private let service: Silence
        private let connection: FrontConnection

        init(_ service: Silence, _ connection: FrontConnection) {
            self.service = service
            self.connection = connection
        }

        func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> { connection.eventLoop.makeSucceededVoidFuture() }
        func endBody() {}
        func abandon() { service.abandoned.withLock { $0 += 1 } }
    }
}

/// The exchange of a response that is complete already.
final class Nothing: FrontExchange {
    private let connection: FrontConnection

    init(_ connection: FrontConnection) {
        self.connection = connection
    }

    func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> { connection.eventLoop.makeSucceededVoidFuture() }
    func endBody() {}
    func abandon() {}
}
