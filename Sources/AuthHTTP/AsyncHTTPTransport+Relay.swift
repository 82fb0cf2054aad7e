import AsyncHTTPClient
package import AuthModel
package import NIOCore
package import NIOHTTP1

/// A request of another program, to be sent as it is.
package struct RelayRequest {
    package enum Body {
        case none
        case whole(ByteBuffer)
        case pieces(RelayUpload)
    }

    package let method: String
    package let url: String
    /// Without those of the connection, such as `Host` and `Content-Length`.
    package let fields: [(name: String, value: String)]
    package let body: Body

    package init(method: String, url: String, fields: [(name: String, value: String)], body: Body) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// Gets the response to a ``RelayRequest``. Everything is called on the event loop of the relay.
package protocol RelayReceiver: AnyObject {
    /// The server is read on when the future ends.
    func responseBegan(_ head: HTTPResponseHead) -> EventLoopFuture<Void>
    /// The server is read on when the future ends.
    func responseContinued(_ piece: ByteBuffer) -> EventLoopFuture<Void>
    /// Called once, last.
    func responseEnded(_ failure: TransportError?)
}

/// A body that is sent while it arrives. It belongs to one event loop.
package final class RelayUpload {
    fileprivate let length: Int?
    private let loop: any EventLoop
    private let ended: EventLoopPromise<Void>
    private var writer: HTTPClient.Body.StreamWriter?
    private var waiting: [(piece: ByteBuffer, promise: EventLoopPromise<Void>)] = []
    private var hasEnd = false
    private var isOver = false

    /// - Parameter length: `nil` if it is not known before the end.
    package init(length: Int?, on loop: any EventLoop) {
        self.length = length
        self.loop = loop
        ended = loop.makePromise()
    }

    /// The future ends when more can be sent.
    package func write(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        if isOver { return loop.makeSucceededVoidFuture() }
        if let writer { return writer.write(.byteBuffer(piece)) }
        let promise = loop.makePromise(of: Void.self)
        waiting.append((piece, promise))
        return promise.futureResult
    }

    /// After the last piece.
    package func end() {
        hasEnd = true
        guard !isOver, waiting.isEmpty else { return }
        isOver = true
        ended.succeed()
    }

    fileprivate func begin(_ writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
        self.writer = writer
        let pieces = waiting
        waiting = []
        for (piece, promise) in pieces { writer.write(.byteBuffer(piece)).cascade(to: promise) }
        if hasEnd { end() }
        return ended.futureResult
    }

    /// The rest is not needed.
    package func abandon() {
        guard !isOver else { return }
        isOver = true
        let waiting = waiting
        self.waiting = []
        for (_, promise) in waiting { promise.succeed() }
        ended.fail(TransportError.cancelled)
    }
}

/// An exchange in progress.
package struct Relay: Sendable {
    fileprivate let task: HTTPClient.Task<Void>

    /// The receiver is still called, with ``TransportError/cancelled``.
    package func cancel() { task.cancel() }
}

extension AsyncHTTPTransport {
    /// Sends a request of another program and passes its response on while both arrive, on one event loop, compressed as the
    /// server sent it. No redirect is followed, and there is no time limit after the connection.
    ///
    /// Must be called on `loop`, which is one of the transport's own.
    package func relay(
        _ request: RelayRequest, on loop: any EventLoop, to receiver: any RelayReceiver
    ) throws(TransportError) -> Relay {
        let origin = try Origin(sending: request.url)
        let route = try proxies.route(to: origin)
        let attempt = Attempt(origin: origin, route: route, limits: limits)
        guard let lease = live.borrow(route, to: origin) else { throw .cancelled }
        let body: HTTPClient.Body?
        switch request.body {
        case .none: body = nil
        case .whole(let bytes): body = .byteBuffer(bytes)
        case .pieces(let upload):
            let bound = NIOLoopBound(upload, eventLoop: loop)
            body = .stream(contentLength: upload.length.map { Int64($0) }) { bound.value.begin($0) }
        }
        let delegate = RelayDelegate(receiver, attempt, loop)
        do {
            let prepared = try HTTPClient.Request(
                url: request.url, method: HTTPMethod(rawValue: request.method),
                headers: HTTPHeaders(request.fields.map { ($0.name, $0.value) }),
                body: body)
            let task = lease.client.execute(
                request: prepared, delegate: delegate, eventLoop: .delegateAndChannel(on: loop))
            task.futureResult.hop(to: loop).whenComplete { [live] result in
                delegate.end(result)
                _ = loop.makeFutureWithTask { await live.release(lease) }
            }
            return Relay(task: task)
        } catch {
            _ = loop.makeFutureWithTask { [live] in await live.release(lease) }
            throw attempt.meaning(of: error)
        }
    }
}

private final class RelayDelegate: HTTPClientResponseDelegate {
    typealias Response = Void

    private let receiver: NIOLoopBound<any RelayReceiver>
    private let attempt: Attempt

    init(_ receiver: any RelayReceiver, _ attempt: Attempt, _ loop: any EventLoop) {
        self.receiver = NIOLoopBound(receiver, eventLoop: loop)
        self.attempt = attempt
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        receiver.value.responseBegan(head)
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        receiver.value.responseContinued(buffer)
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {}

    func end(_ result: Result<Void, any Error>) {
        switch result {
        case .success: receiver.value.responseEnded(nil)
        case .failure(let error): receiver.value.responseEnded(attempt.meaning(of: error))
        }
    }
}
