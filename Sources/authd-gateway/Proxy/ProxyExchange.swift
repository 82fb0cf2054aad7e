import AuthFront
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import NIOCore
import NIOHTTP1

/// One request on its way to the server and back.
///
/// Invariant: a piece of either body is in memory only until the other side has accepted it, except for a short body that may
/// have to be sent again. Everything runs on the event loop of the client's connection.
final class ProxyExchange: FrontExchange, RelayReceiver {
    private let service: ProxyService
    private let request: FrontRequest
    private let connection: FrontConnection
    private var attempts: ProxyAttempts
    /// The body, if it can be sent again.
    private var body = ByteBuffer()
    private var upload: RelayUpload?
    private var token: ProxyToken?
    private var target: ProxyTarget?
    private var relay: Relay?
    private var timeLimit: Scheduled<Void>?
    /// When the request was sent, a piece of its body was last accepted, or its body ended. The time limit of the response begins
    /// here.
    private var lastProgress = NIODeadline.now()
    /// Pieces of the body that the server has not accepted yet.
    private var unaccepted = 0
    /// The client has sent all of its request.
    private var hasRequest = false
    /// The response is not for the client: the request is sent again after it. Until then, its time limit holds.
    private var again: ProxyAttempts.Decision?
    private var dropped = 0
    private var hasResponse = false
    private var isOver = false

    init(_ service: ProxyService, _ request: FrontRequest, _ connection: FrontConnection) {
        self.service = service
        self.request = request
        self.connection = connection
        let length = request.head.bodyLength
        let isReplayable = length.map { $0 <= ProxyLimits.replayedBytes } ?? false
        attempts = ProxyAttempts(method: request.head.method, isReplayable: isReplayable)
        if !isReplayable { upload = RelayUpload(length: length, on: connection.eventLoop) }
    }

    func started() -> ProxyExchange {
        if upload != nil || request.head.bodyLength == 0 { ask() } else { connection.requestBody() }
        return self
    }

    // MARK: - The client

    func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        if let upload {
            (lastProgress, unaccepted) = (.now(), unaccepted + 1)
            let accepted = upload.write(piece)
            accepted.assumeIsolated().whenComplete { [self] _ in (lastProgress, unaccepted) = (.now(), unaccepted - 1) }
            return accepted
        }
        body.writeImmutableBuffer(piece)
        return connection.eventLoop.makeSucceededVoidFuture()
    }

    func endBody() {
        (lastProgress, hasRequest) = (.now(), true)
        if let upload { return upload.end() }
        if request.head.bodyLength != 0 { ask() }
    }

    func abandon() {
        guard !isOver else { return }
        isOver = true
        timeLimit?.cancel()
        upload?.abandon()
        relay?.cancel()
    }

    // MARK: - The server

    private func ask(insteadOf refused: ProxyToken? = nil) {
        service.token(for: request, insteadOf: refused, on: connection.eventLoop).assumeIsolated()
            .whenComplete { [self] result in
                guard !isOver else { return }
                switch result {
                case .success(let found): send(found.token, to: found.target)
                case .failure(let error): fail(ProxyService.problem(error))
                }
            }
    }

    private func send(_ token: ProxyToken, to target: ProxyTarget) {
        (self.token, self.target) = (token, target)
        let prepared: RelayRequest
        do throws(FrontProblem) {
            let (url, fields) = try ProxyFields.request(request, to: target, with: token)
            let body: RelayRequest.Body =
                if let upload { .pieces(upload) } else if self.body.readableBytes > 0 || hasLength {
                    .whole(self.body)
                } else { .none }
            prepared = RelayRequest(method: request.head.method, url: url, fields: fields, body: body)
        } catch {
            return fail(error)
        }
        let begun: Relay
        do throws(TransportError) {
            begun = try service.transport.relay(prepared, on: connection.eventLoop, to: self)
        } catch {
            return fail(FrontProblem(error))
        }
        // It may have failed at once, and the client has its answer.
        guard !isOver else { return }
        relay = begun
        if upload != nil { connection.requestBody() }
        lastProgress = .now()
        limitTime()
    }

    /// Begins again while the body makes progress, so that a long upload does not time out.
    private func limitTime() {
        timeLimit = connection.eventLoop.assumeIsolated()
            .scheduleTask(deadline: lastProgress + TimeAmount(service.responseTime)) { [self] in expire() }
    }

    /// `Content-Length: 0` is passed on, too: some servers want it with POST.
    private var hasLength: Bool { !request.head.values("content-length").isEmpty }

    private func expire() {
        guard !isOver, !hasResponse, let target else { return }
        // While only the client delays the request, the limit of FrontConnection applies.
        if upload != nil, !hasRequest, unaccepted == 0 { lastProgress = .now() }
        guard lastProgress + TimeAmount(service.responseTime) <= .now() else { return limitTime() }
        let problem = FrontProblem(TransportError.timedOut(host: target.origin.host, after: service.responseTime))
        fail(problem)
        relay?.cancel()
    }

    func responseBegan(_ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let accepted = connection.eventLoop.makeSucceededVoidFuture()
        guard !isOver, let token, let target else { return accepted }
        guard head.status != .switchingProtocols else {
            fail(FrontProblem.otherProtocol)
            relay?.cancel()
            return accepted
        }
        let response = HTTPResponse(
            status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) }, body: [])
        service.tokens.learn(nonce: ProxyAttempts.nonce(response))
        let decision = attempts.decide(response, with: token)
        switch decision {
        case .renew, .prove:
            again = decision
            return accepted
        case .passAndRenew:
            _ = connection.eventLoop.makeFutureWithTask { [service] in await service.tokens.reject(token) }
        case .pass: break
        }
        timeLimit?.cancel()
        hasResponse = true
        let fields = ProxyFields.response(response.headers, of: target, prefix: request.prefix)
        return connection.begin(status: response.status, fields: fields)
    }

    func responseContinued(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        if again != nil {
            dropped += piece.readableBytes
            // The connection is not worth the rest.
            if dropped > ProxyLimits.droppedBytes { relay?.cancel() }
            return connection.eventLoop.makeSucceededVoidFuture()
        }
        guard hasResponse, !isOver else { return connection.eventLoop.makeSucceededVoidFuture() }
        return connection.send(piece)
    }

    func responseEnded(_ failure: TransportError?) {
        relay = nil
        guard !isOver else { return }
        timeLimit?.cancel()
        if let decision = again {
            (again, dropped) = (nil, 0)
            return ask(insteadOf: decision == .renew ? token : nil)
        }
        guard let failure else {
            isOver = true
            upload?.abandon()
            return connection.finish()
        }
        if hasResponse {
            isOver = true
            upload?.abandon()
            return connection.abort()
        }
        if attempts.mayReconnect(after: failure) { return ask() }
        fail(FrontProblem(failure))
    }

    private func fail(_ problem: FrontProblem) {
        isOver = true
        timeLimit?.cancel()
        upload?.abandon()
        connection.respond(FrontResponse(problem))
    }
}
