import AuthModel
import NIOCore
import NIOHTTP1

/// A request whose body is sent while it arrives, and its response, on a separate connection. Everything runs on one event loop.
///
/// A server may answer before it has the whole body (RFC 9112 §9.5). A refusal (3xx, 4xx, 5xx) then ends the exchange, and a
/// part of the body is never sent as if it were the whole. After a 2xx the rest of the body is still sent.
///
/// async-http-client, which sends all other requests, can lose the end of such a response, and with HTTP/2 does not close the stream.
final class UploadExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let request: RelayRequest
    private let upload: RelayUpload
    private let origin: Origin
    private let receiver: any RelayReceiver
    private let meaning: (any Error) -> TransportError
    private var channel: (any Channel)?
    private var isWriting = false
    private var isSending = false
    private var isRequestSent = false
    private var isRefused = false
    /// Parts of the response that the receiver has not accepted yet.
    private var unaccepted = 0
    private var isResponseComplete = false
    private var isServerGone = false
    private var isOver = false

    init(
        _ request: RelayRequest, _ upload: RelayUpload, to origin: Origin, for receiver: any RelayReceiver,
        _ meaning: @escaping (any Error) -> TransportError
    ) {
        self.request = request
        self.upload = upload
        self.origin = origin
        self.receiver = receiver
        self.meaning = meaning
    }

    func begin(_ connection: EventLoopFuture<any Channel>) {
        connection.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let channel): begin(on: channel)
            case .failure(let error): end(error)
            }
        }
    }

    func cancel() { end(TransportError.cancelled) }

    // MARK: - The request

    private func begin(on channel: any Channel) {
        guard !isOver else { return channel.close(promise: nil) }
        self.channel = channel
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTPRequestEncoder())
            try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
            try pipeline.addHandler(self)
        } catch {
            return end(error)
        }
        var headers = HTTPHeaders(request.fields.map { ($0.name, $0.value) })
        headers.add(name: "Host", value: origin.authority)
        if let length = upload.length {
            headers.add(name: "Content-Length", value: String(length))
        } else {
            headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        let path = Origin.path(of: request.url)
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method),
            uri: path.hasPrefix("/") ? String(path) : "/" + path, headers: headers)
        channel.writeAndFlush(HTTPClientRequestPart.head(head), promise: nil)
        channel.read()
        upload.begin { [weak self] in self?.send() }
    }

    /// One piece at a time: the next one when the system has accepted it. That may be at once, so this is a loop: a client
    /// decides how many pieces there are.
    private func send() {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while !isOver, !isWriting, let channel, sendNext(on: channel) {}
    }

    /// - Returns: whether there was a piece.
    private func sendNext(on channel: any Channel) -> Bool {
        switch upload.next() {
        case .nothing: return false
        case .piece(let piece, let accepted):
            isWriting = true
            channel.writeAndFlush(HTTPClientRequestPart.body(.byteBuffer(piece))).assumeIsolated()
                .whenComplete { [self] _ in
                    isWriting = false
                    // If it failed, the connection has ended, which is noticed there.
                    accepted.succeed()
                    send()
                }
            return true
        case .end:
            channel.writeAndFlush(HTTPClientRequestPart.end(nil)).assumeIsolated().whenSuccess { [self] in
                isRequestSent = true
                endIfComplete()
            }
            return false
        }
    }

    // MARK: - The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            isRefused = head.status.code >= 300
            if isRefused { upload.abandon() }
            pass(receiver.responseBegan(head))
        case .body(let piece): pass(receiver.responseContinued(piece))
        case .end:
            isResponseComplete = true
            endIfComplete()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { read() }

    private func pass(_ accepted: EventLoopFuture<Void>) {
        unaccepted += 1
        accepted.assumeIsolated().whenComplete { [self] _ in
            unaccepted -= 1
            endIfComplete()
            read()
        }
    }

    /// Reading continues after the response, so that the loss of the connection is noticed.
    private func read() {
        if !isOver, unaccepted == 0 { channel?.read() }
    }

    private func endIfComplete() {
        if isComplete, unaccepted == 0 { end(nil) }
    }

    /// A refusal needs no more of the request, and a server that is gone gets no more.
    private var isComplete: Bool { isResponseComplete && (isRequestSent || isRefused || isServerGone) }

    func channelInactive(context: ChannelHandlerContext) { lost(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { lost(error) }

    /// Nothing of a complete response is lost; the receiver may still be accepting it.
    private func lost(_ error: any Error) {
        guard isResponseComplete else { return end(error) }
        isServerGone = true
        upload.abandon()
        endIfComplete()
    }

    private func end(_ failure: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        upload.abandon()
        let former = channel
        channel = nil
        former?.close(promise: nil)
        receiver.responseEnded(failure.map(meaning))
    }
}
