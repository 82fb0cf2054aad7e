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

/// An exchange in progress. It belongs to the event loop of its request.
package struct Relay {
    fileprivate let end: () -> Void

    /// The receiver is still called, with ``TransportError/cancelled``.
    package func cancel() { end() }
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
        switch request.body {
        case .none: return try relay(request, nil, to: origin, on: loop, for: receiver)
        case .whole(let bytes): return try relay(request, .byteBuffer(bytes), to: origin, on: loop, for: receiver)
        case .pieces(let upload):
            let exchange = UploadExchange(request, upload, to: origin, for: receiver) { [self] in
                meaning(of: $0, at: origin)
            }
            exchange.begin(connect(to: origin, on: loop))
            return Relay(end: exchange.cancel)
        }
    }

    private func relay(
        _ request: RelayRequest, _ body: HTTPClient.Body?, to origin: Origin, on loop: any EventLoop,
        for receiver: any RelayReceiver
    ) throws(TransportError) -> Relay {
        let route = try proxies.route(to: origin)
        let attempt = Attempt(origin: origin, route: route, limits: limits)
        guard let lease = live.borrow(route, to: origin) else { throw .cancelled }
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
            return Relay { task.cancel() }
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
