import AsyncHTTPClient
package import AuthModel
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1

extension AsyncHTTPTransport {
    /// Sends one request and passes its response on while it arrives, compressed as the server sent it. No redirect is
    /// followed. Returns at the end of the response; if the calling task is cancelled, the connection is closed.
    ///
    /// - Parameters:
    ///   - limit: how long the head of the response may take.
    ///   - receiver: called from one task; the server is not read while it waits.
    /// - Throws: if there was no response, or not all of it.
    package func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError) {
        guard URL(string: request.url) != nil else { throw .badURL(reason: "the address cannot be read") }
        let origin = try Origin(sending: request.url)
        let route = try proxies.route(to: origin)
        guard let lease = live.borrow(route, to: origin) else { throw .cancelled }
        var limits = limits
        limits.total = limit
        let attempt = Attempt(origin: origin, route: route, limits: limits)
        var failure: TransportError?
        do {
            let deadline = NIODeadline.now() + TimeAmount(limit)
            let response = try await lease.client.execute(prepared(request), deadline: deadline)
            await receiver.begin(
                HTTPResponse(
                    status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, body: []))
            for try await part in response.body { await receiver.receive([UInt8](part.readableBytesView)) }
        } catch {
            failure = Task.isCancelled ? .cancelled : attempt.meaning(of: error)
        }
        await live.release(lease)
        if let failure { throw failure }
    }

    static func keepAlive(_ channel: any Channel, _ times: TransportLimits.KeepAlive) -> EventLoopFuture<Void> {
        let options: [(ChannelOptions.Types.SocketOption, Int)] = [
            (ChannelOptions.socketOption(.so_keepalive), 1),
            (ChannelOptions.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), times.silence),
            (ChannelOptions.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), times.interval),
            (ChannelOptions.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), times.probes),
        ]
        let set = options.map { channel.setOption($0.0, value: $0.1) }
        // A connection without them is better than none.
        return EventLoopFuture.andAllComplete(set, on: channel.eventLoop)
    }

    private func prepared(_ request: HTTPRequest) -> HTTPClientRequest {
        var prepared = HTTPClientRequest(url: request.url)
        prepared.method = HTTPMethod(rawValue: request.method)
        for field in request.headers { prepared.headers.add(name: field.name, value: field.value.reveal()) }
        if !prepared.headers.contains(name: "User-Agent") { prepared.headers.add(name: "User-Agent", value: userAgent) }
        if let body = request.body {
            prepared.body = .bytes(body.revealBytes(), length: .known(Int64(body.count)))
        }
        return prepared
    }
}
