import AuthGateway
import AuthSockets
package import NIOCore
package import NIOHTTP1

/// One connection of a client: its requests, one after the other, and their responses.
///
/// Invariant: at most one exchange is in progress, and the client is read only as fast as that exchange accepts. When the client
/// ends its side, NIO reads all at once that the kernel has of it: ``FrontLimits/receiveBytes`` for a port.
/// Everything runs on the event loop of the connection.
package final class FrontConnection: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart

    struct HTTPHandlers {
        let encoder: HTTPResponseEncoder
        let decoder: ByteToMessageHandler<HTTPRequestDecoder>
        let pipelining: HTTPServerPipelineHandler
    }

    private enum Body {
        case none
        case receiving
        /// Nobody needs the rest of it.
        case discarding
    }

    package let channel: any Channel
    private let access: FrontAccess
    private let authorities: Set<String>?
    private let service: any FrontService
    private let http: HTTPHandlers
    /// Called once, before its first admitted request is served.
    private let admitted: () -> Void
    private var isAdmitted = false

    private let alarm: FrontAlarm
    private let presenceInterval: Duration
    private var presenceCheck: Scheduled<Void>?
    /// Between the head of a request and the end of its response.
    private var isServing = false
    private var exchange: (any FrontExchange)?
    private var head: FrontHead?
    private var body = Body.none
    /// Pieces of the body that the exchange has not accepted yet.
    private var unaccepted = 0
    private var isReading = false
    private var unwritten = 0
    private var hasResponse = false
    private var hasServed = false
    /// No further request is served; the client gets some time to read the last response.
    private var isEnding = false
    private var isLast = false
    private var isDraining = false

    init(
        _ channel: any Channel, access: FrontAccess, authorities: Set<String>?, limits: FrontLimits,
        service: any FrontService, _ http: HTTPHandlers, admitted: @escaping () -> Void
    ) {
        self.channel = channel
        self.access = access
        self.authorities = authorities
        self.service = service
        self.http = http
        self.admitted = admitted
        alarm = FrontAlarm(limits, on: channel.eventLoop)
        presenceInterval = limits.presenceInterval
    }

    package var eventLoop: any EventLoop { channel.eventLoop }

    // MARK: - Responses

    /// Sends `100 Continue` if the client waits for it.
    package func requestBody() {
        guard let head, head.expectsContinue, !hasResponse else { return }
        let interim = HTTPResponseHead(version: .http1_1, status: .continue)
        channel.writeAndFlush(HTTPServerResponsePart.head(interim), promise: nil)
    }

    /// The head of the response; the rest is sent with ``send(_:)`` and ``finish()``.
    /// - Parameter fields: without those of the connection.
    package func begin(status: Int, fields: [(name: String, value: String)]) -> EventLoopFuture<Void> {
        guard let head, !hasResponse else { return eventLoop.makeSucceededVoidFuture() }
        hasResponse = true
        let framing = FrontFraming(
            head, status: status, hasLength: fields.contains { $0.name.lowercased() == "content-length" })
        var headers = HTTPHeaders(fields.map { ($0.name, $0.value) })
        if framing.isChunked { headers.add(name: "Transfer-Encoding", value: "chunked") }
        if case .receiving = body, head.bodyLength != 0 { isLast = true }
        isLast = isLast || framing.endsWithConnection || isDraining
        if isLast {
            headers.add(name: "Connection", value: "close")
        } else if head.isOld {
            headers.add(name: "Connection", value: "keep-alive")
        }
        return write(.head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)))
    }

    /// A piece of the response's body. The future ends when the system has accepted it.
    package func send(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        isServing ? write(.body(.byteBuffer(piece))) : eventLoop.makeSucceededVoidFuture()
    }

    /// The end of the response.
    package func finish() {
        guard isServing else { return }
        if case .receiving = body, head?.bodyLength != 0 { body = .discarding }
        isEnding = isLast || isDraining
        // Before the last part is written: a request that waits behind this one is received then.
        (isServing, hasServed, hasResponse) = (false, true, false)
        (exchange, head, unaccepted) = (nil, nil, 0)
        _ = write(.end(nil))
        // A piece that was not accepted may have stopped the reading. If the connection were closed with unread bytes,
        // the client might lose the response (RFC 9112 §9.6).
        read()
    }

    package func respond(_ response: FrontResponse) {
        guard isServing else { return }
        guard !hasResponse else { return abort() }
        let length = (name: "Content-Length", value: "\(response.body.count)")
        let hasBody = head.map { FrontFraming($0, status: response.status, hasLength: true).hasBody } ?? true
        _ = begin(status: response.status, fields: response.fields + [length])
        if hasBody, !response.body.isEmpty { _ = send(ByteBuffer(bytes: response.body)) }
        finish()
    }

    /// Ends the connection, so that the client notices that a response is not complete.
    package func abort() {
        abandon()
        channel.close(promise: nil)
    }

    /// Makes the connection one of bytes, after a `101` (RFC 9110 §15.2.2).
    /// - Returns: the handler that follows gets what the client has sent already.
    package func switchProtocols(
        fields: [(name: String, value: String)], to handler: any ChannelHandler
    ) -> EventLoopFuture<Void> {
        let head = HTTPResponseHead(
            version: .http1_1, status: .switchingProtocols, headers: HTTPHeaders(fields.map { ($0.name, $0.value) }))
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        exchange = nil
        let pipeline = channel.pipeline.syncOperations
        do {
            try pipeline.addHandler(handler)
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
        return pipeline.removeHandler(http.pipelining).assumeIsolated()
            .flatMap { [http] in pipeline.removeHandler(http.encoder) }
            .flatMap { pipeline.removeHandler(self) }
            .flatMap { [http] in pipeline.removeHandler(http.decoder) }.nonisolated()
    }

    private func write(_ part: HTTPServerResponsePart) -> EventLoopFuture<Void> {
        unwritten += 1
        if unwritten == 1 { renew() }
        let written = channel.writeAndFlush(part)
        written.assumeIsolated().whenComplete { [self] _ in
            unwritten -= 1
            renew()
            closeIfEnded()
        }
        return written
    }

    // MARK: - Requests

    package func channelActive(context: ChannelHandlerContext) {
        renew()
        read()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = false
        switch unwrapInboundIn(data) {
        case .head(let head): if !isEnding { receive(head) }
        case .body(let piece): receive(piece)
        case .end:
            body = .none
            renew()
            exchange?.endBody()
            closeIfEnded()
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        if unaccepted == 0 { read() }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        alarm.stop()
        presenceCheck?.cancel()
        abandon()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        alarm.stop()
        presenceCheck?.cancel()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The client has ended its side within a further request: the response before it is still written whole.
        if let error = error as? HTTPParserError, error == .invalidEOFState, !isServing, unwritten > 0 {
            (isEnding, body) = (true, .none)
            return
        }
        guard let error = error as? HTTPParserError, error != .invalidEOFState, !isServing, !isEnding else {
            abandon()
            return channel.close(promise: nil)
        }
        refuse(error == .headerOverflow ? .headTooLarge : .malformed("it cannot be parsed"), with: .unknown)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is DrainEvent:
            isDraining = true
            if !isServing, unwritten == 0 { channel.close(promise: nil) }
        case ChannelEvent.inputClosed: endInput()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// The client sends no more (shutdown(2)). It still gets the response to what it has sent, except to the opening handshake
    /// of a WebSocket, which needs both directions.
    private func endInput() {
        guard isServing || unwritten > 0, head?.opensWebSocket != true else {
            abandon()
            return channel.close(promise: nil)
        }
        isLast = true
        if !isServing { isEnding = true }
        checkPresence()
    }

    /// A TCP socket that was closed looks like one that only sends no more. The system reports the close of a Unix socket.
    private func checkPresence() {
        guard let peer = channel.remoteAddress, let own = channel.localAddress, own.port != nil else { return }
        // The next look may succeed if this one fails, for example for lack of descriptors.
        guard LoopbackPeer.owner(peer: peer, own: own) != .nobody else {
            abandon()
            return channel.close(promise: nil)
        }
        presenceCheck = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(presenceInterval)) { [weak self] in
            self?.checkPresence()
        }
    }

    private func receive(_ received: HTTPRequestHead) {
        let head = FrontHead(
            method: received.method.rawValue, target: received.uri, isOld: received.version.minor == 0,
            fields: received.headers.map { ($0.name, $0.value) })
        isLast = !received.isKeepAlive || head.has("upgrade", in: "connection")
        do throws(FrontProblem) {
            let request = try access.admit(head, at: authorities)
            if !isAdmitted {
                isAdmitted = true
                admitted()
            }
            self.head = head
            body = .receiving
            isServing = true
            let exchange = service.begin(request, on: self)
            if isServing { self.exchange = exchange }
            renew()
        } catch {
            refuse(error, with: head)
        }
    }

    private func refuse(_ problem: FrontProblem, with head: FrontHead) {
        self.head = head
        isServing = true
        isLast = true
        body = .discarding
        respond(FrontResponse(problem))
    }

    private func receive(_ piece: ByteBuffer) {
        switch body {
        case .none, .discarding: return
        case .receiving:
            guard let exchange else { return }
            unaccepted += 1
            renew()
            exchange.receive(piece).assumeIsolated().whenComplete { [self] result in
                // After its response, nothing of an exchange counts.
                guard self.exchange === exchange else { return }
                unaccepted -= 1
                if case .failure = result { return abort() }
                if unaccepted == 0 { read() }
            }
        }
    }

    /// After the last response: the client has sent all of its request.
    private func closeIfEnded() {
        if isEnding, unwritten == 0, case .none = body { channel.close(promise: nil) }
    }

    private func abandon() {
        let exchange = exchange
        (isServing, self.exchange) = (false, nil)
        exchange?.abandon()
    }

    private func read() {
        guard !isReading, unaccepted == 0 else { return }
        isReading = true
        channel.read()
        if isServing { renew() }
    }

    // MARK: - Time

    private var wait: FrontTimes.Wait {
        if unwritten > 0 { return .client }
        if isEnding { return .end }
        if case .receiving = body, isReading, !hasResponse { return .client }
        if isServing { return .other }
        return hasServed ? .next : .head
    }

    private func renew() { alarm.begin(wait) { [weak self] in self?.expire() } }

    private func expire() {
        guard alarm.wait == .client, unwritten == 0, let head else {
            abandon()
            return channel.close(promise: nil)
        }
        exchange?.abandon()
        exchange = nil
        refuse(.slowClient, with: head)
    }
}

extension FrontHead {
    /// The head of a request that could not be parsed.
    fileprivate static let unknown = FrontHead(method: "GET", target: "*", fields: [])
}
