import AuthFront
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import NIOCore
import NIOHTTP1

/// The opening handshake of a WebSocket (RFC 6455 §4): a separate connection to the server, which both sides keep.
final class UpgradeExchange: FrontExchange {
    private let service: ProxyService
    private let request: FrontRequest
    private let connection: FrontConnection
    private var attempts: ProxyAttempts
    private var token: ProxyToken?
    private var target: ProxyTarget?
    private var server: (any Channel)?
    private var handlers: [any RemovableChannelHandler] = []
    private var timeLimit: Scheduled<Void>?
    private var head: HTTPResponse?
    private var isOver = false

    init(_ service: ProxyService, _ request: FrontRequest, _ connection: FrontConnection) {
        self.service = service
        self.request = request
        self.connection = connection
        attempts = ProxyAttempts(method: request.head.method, isReplayable: true)
    }

    func started() -> UpgradeExchange {
        if request.head.bodyLength == 0 {
            ask()
        } else {
            fail(FrontProblem.malformed("the opening handshake of a WebSocket has a body"))
        }
        return self
    }

    func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        connection.eventLoop.makeFailedFuture(TransportError.cancelled)
    }

    func endBody() {}

    func abandon() {
        isOver = true
        timeLimit?.cancel()
        close()
    }

    private func ask(insteadOf refused: ProxyToken? = nil) {
        service.token(for: request, insteadOf: refused, on: connection.eventLoop).assumeIsolated()
            .flatMap { [self] found in
                (token, target) = (found.token, found.target)
                return service.transport.connect(to: found.target.origin, on: connection.eventLoop)
            }
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): send(on: channel)
                case .failure(let error): fail(error)
                }
            }
    }

    private func send(on channel: any Channel) {
        guard !isOver, let token, let target else { return channel.close(promise: nil) }
        server = channel
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
        let receiver = UpgradeHandler(self)
        handlers = [encoder, receiver, decoder]
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(encoder)
            try pipeline.addHandler(decoder)
            try pipeline.addHandler(receiver)
            let (url, fields) = try ProxyFields.request(request, to: target, with: token)
            var headers = HTTPHeaders(fields.map { ($0.name, $0.value) })
            let origin = target.origin
            headers.add(name: "Host", value: origin.authority)
            headers.add(name: "Connection", value: "Upgrade")
            headers.add(name: "Upgrade", value: "websocket")
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: String(url.dropFirst(origin.text.count)), headers: headers)
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        } catch {
            return fail(error)
        }
        let loop = connection.eventLoop.assumeIsolated()
        timeLimit = loop.scheduleTask(in: TimeAmount(service.responseTime)) { [self] in
            fail(TransportError.timedOut(host: target.origin.host, after: service.responseTime))
        }
        channel.read()
    }

    fileprivate func receive(_ part: HTTPClientResponsePart, from channel: any Channel) {
        guard !isOver, channel === server, let token, let target else { return }
        switch part {
        case .head(let head):
            timeLimit?.cancel()
            let response = HTTPResponse(
                status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) }, body: [])
            service.tokens.learn(nonce: ProxyAttempts.nonce(response))
            let decision = attempts.decide(response, with: token)
            if decision == .renew || decision == .prove {
                // Its body may never end.
                close()
                return ask(insteadOf: decision == .renew ? token : nil)
            }
            guard response.status != 101 || Self.isOfWebSocket(response) else {
                return fail(FrontProblem.otherProtocol)
            }
            self.head = response
            guard response.status != 101 else { return }
            forward(
                connection.begin(
                    status: response.status,
                    fields: ProxyFields.response(response.headers, of: target, prefix: request.prefix)))
        case .body(let piece):
            if head != nil { forward(connection.send(piece)) }
        case .end:
            if head?.status == 101 { return join() }
            isOver = true
            close()
            connection.finish()
        }
    }

    /// RFC 6455 §4.1: the client checks the rest.
    private static func isOfWebSocket(_ response: HTTPResponse) -> Bool {
        response.headers.filter { $0.name.lowercased() == "upgrade" }.map { $0.value.lowercased() } == ["websocket"]
    }

    fileprivate func failed(_ error: any Error, of channel: any Channel) {
        guard !isOver, channel === server else { return }
        fail(target.map { service.transport.meaning(of: error, at: $0.origin) } ?? error)
    }

    /// After the head, ``forward(_:)`` reads.
    fileprivate func readMore() { if !isOver, head == nil { server?.read() } }

    /// Reads on when the client has accepted it.
    private func forward(_ sent: EventLoopFuture<Void>) {
        sent.assumeIsolated().whenComplete { [self] _ in server?.read() }
    }

    /// From now on both connections are bytes.
    private func join() {
        guard let server, let head, let target else { return }
        isOver = true
        let (toClient, toServer) = ByteRelay.pair()
        var fields = ProxyFields.response(head.headers, of: target, prefix: request.prefix)
        fields.append(("Connection", "Upgrade"))
        fields.append(("Upgrade", "websocket"))
        let pipeline = server.pipeline.syncOperations
        connection.switchProtocols(fields: fields, to: toClient).assumeIsolated()
            .flatMapThrowing { try pipeline.addHandler(toServer) }
            .flatMap { [handlers] in pipeline.removeHandler(handlers[0]) }
            .flatMap { [handlers] in pipeline.removeHandler(handlers[1]) }
            .flatMap { [handlers] in pipeline.removeHandler(handlers[2]) }
            .whenComplete { [channel = connection.channel] result in
                guard case .success = result else {
                    server.close(promise: nil)
                    return channel.close(promise: nil)
                }
                toClient.begin()
                toServer.begin()
            }
    }

    private func close() {
        let former = server
        server = nil
        former?.close(promise: nil)
    }

    private func fail(_ error: any Error) {
        guard !isOver else { return }
        isOver = true
        timeLimit?.cancel()
        close()
        if head != nil { return connection.abort() }
        connection.respond(FrontResponse(ProxyService.problem(error)))
    }
}

/// The server's side of the handshake.
private final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let exchange: UpgradeExchange

    init(_ exchange: UpgradeExchange) {
        self.exchange = exchange
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        exchange.receive(unwrapInboundIn(data), from: context.channel)
    }

    func channelReadComplete(context: ChannelHandlerContext) { exchange.readMore() }

    func channelInactive(context: ChannelHandlerContext) {
        exchange.failed(ChannelError.eof, of: context.channel)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        exchange.failed(error, of: context.channel)
        context.close(promise: nil)
    }
}
