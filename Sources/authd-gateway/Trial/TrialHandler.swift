import AuthGateway
import AuthWire
import NIOCore
import NIOHTTP1

/// One connection to the provider of `authc try`.
final class TrialHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: TrialServer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ server: TrialServer) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part):
            guard body.count + part.readableBytes <= TrialProvider.maxBodyBytes else {
                return context.close(promise: nil)
            }
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            respond(to: head, context.channel)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func respond(to head: HTTPRequestHead, _ channel: any Channel) {
        let response = server.respond(
            to: TrialProvider.Request(
                method: head.method.rawValue, path: String(head.uri.prefix { $0 != "?" }),
                authorization: head.headers.first(name: "authorization"), body: body))
        let delay: TimeAmount = response.event == .renewed ? .init(TrialProvider.renewalDelay) : .zero
        let bytes = ByteBuffer(bytes: response.body.serialized())
        let isLast = !head.isKeepAlive
        var headers: HTTPHeaders = [
            "Content-Type": "application/json", "Content-Length": "\(bytes.readableBytes)", "Cache-Control": "no-store",
        ]
        if isLast { headers.add(name: "Connection", value: "close") }
        let answer = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        channel.eventLoop.scheduleTask(in: delay) {
            channel.write(HTTPServerResponsePart.head(answer), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in
                if isLast { channel.close(promise: nil) }
            }
        }
    }
}
