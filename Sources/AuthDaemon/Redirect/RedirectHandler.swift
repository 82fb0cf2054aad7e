import AuthModel
import NIOCore
import NIOHTTP1

/// One connection of a browser: its request becomes a visit, and the page ends the connection.
final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// From the connection to the end of the request's head: a browser sends it at once. A slow or silent client would occupy
    /// one of few connections.
    private static let headTimeout = TimeAmount.seconds(10)
    /// From the connection to the page, which waits for the sign-in.
    private static let timeout = TimeAmount.seconds(330)
    /// Host names that a local browser sends; any other name was made to lead here (DNS rebinding).
    private static let hosts = ["127.0.0.1", "localhost", "[::1]"]

    private let path: String
    private let arrivals: AsyncStream<RedirectVisit>.Continuation
    private var hasAsked = false
    private var headDeadline: Scheduled<Void>?

    init(path: String, arrivals: AsyncStream<RedirectVisit>.Continuation) {
        self.path = path
        self.arrivals = arrivals
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        _ = context.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
        headDeadline = context.eventLoop.scheduleTask(in: Self.headTimeout) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data), !hasAsked else { return }
        hasAsked = true
        headDeadline?.cancel()
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let host = (head.headers["host"].first ?? "").lowercased()
        let isOurs = Self.hosts.contains { host == $0 || host.hasPrefix($0 + ":") }
        guard isOurs, head.method == .GET, parts[0] == path else {
            return Self.send(
                .unrelated, status: head.method == .GET ? .notFound : .methodNotAllowed, to: context.channel)
        }
        let channel = context.channel
        let visit = RedirectVisit(query: parts.count == 2 ? String(parts[1]) : "") { page in
            Self.send(page, status: page.isSuccess ? .ok : .badRequest, to: channel)
        }
        if case .terminated = arrivals.yield(visit) { visit.show(.unrelated) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// From any thread. Closes the connection.
    private static func send(_ page: RedirectPage, status: HTTPResponseStatus, to channel: any Channel) {
        let body = ByteBuffer(string: page.html)
        let headers: HTTPHeaders = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(body.readableBytes)",
            "Connection": "close", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        channel.eventLoop.execute {
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}

extension RedirectPage {
    /// Readable at any width, in light and dark mode, without scripts or external resources.
    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <title>\(Self.escaped(title))</title>
        <style>:root{color-scheme:light dark}body{font:1.2rem/1.5 system-ui,sans-serif;max-width:34rem;\
        margin:15vh auto;padding:0 1rem}</style></head>
        <body><h1>\(Self.escaped(title))</h1><p>\(Self.escaped(text))</p></body></html>

        """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
