import AsyncHTTPClient
import AuthModel
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// One request and its whole response, within the limits.
struct Exchange: Sendable {
    let client: HTTPClient
    let request: HTTPRequest
    let url: URL
    let userAgent: String
    let attempt: Attempt
    /// The client's event loops.
    let group: any EventLoopGroup
    private let stallDetector = StallDetector()

    /// The response, or the first limit that it exceeds. Returns at once if the calling task is cancelled.
    func outcome() async -> Result<HTTPResponse, TransportError> {
        await withTaskGroup { group in
            group.addTask { await attemptRequest() }
            group.addTask { await timeLimit() }
            let first = await group.next()
            group.cancelAll()
            // What the provider has answered counts, even if nobody waits for it any more.
            if case .success(let response)? = first { return .success(response) }
            return Task.isCancelled ? .failure(.cancelled) : first ?? .failure(.cancelled)
        }
    }

    /// Cancelled when there is a response. The machine's sleep counts, because no connection outlives it.
    private func timeLimit() async -> Result<HTTPResponse, TransportError> {
        let limits = attempt.limits
        let limit: Duration
        if request.streams {
            limit = await stallDetector.stopped(beyond: limits)
        } else {
            limit = request.limit.map { min($0, limits.total) } ?? limits.total
            try? await Task.sleep(for: limit, clock: .continuous)
        }
        return .failure(.timedOut(host: attempt.origin.host, after: limit))
    }

    private func attemptRequest() async -> Result<HTTPResponse, TransportError> {
        do {
            return .success(try await followRedirects())
        } catch {
            return .failure(Task.isCancelled ? .cancelled : attempt.meaning(of: error))
        }
    }

    /// After the last redirect allowed, the next one is the response.
    private func followRedirects() async throws -> HTTPResponse {
        var url = url
        var redirects = 0
        var cookies: [(name: String, value: String)] = []
        while true {
            let response = try await response(at: url, isFirst: redirects == 0)
            let next =
                request.acceptsRedirects
                ? nil
                : try RedirectPolicy.next(
                    after: (response.status.code, response.headers.first(name: "Location")),
                    method: request.method, at: url, origin: attempt.origin)
            guard let next, request.followsRedirects, redirects < attempt.limits.redirects else {
                return try await reply(from: response).adding(cookies)
            }
            cookies += response.headers["Set-Cookie"].map { ("Set-Cookie", $0) }
            // The connection can be reused only after this body is read.
            _ = try await body(of: response)
            redirects += 1
            url = next
        }
    }

    private func response(at url: URL, isFirst: Bool) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(prepared(url), deadline: .distantFuture)
        } catch  where !isFirst && attempt.meaning(of: error).showsNothingWasSent {
            // The request that was redirected has arrived.
            throw TransportError.connectionLost(host: attempt.origin.host, reason: "it was not made after a redirect")
        }
    }

    private func prepared(_ url: URL) -> HTTPClientRequest {
        var prepared = HTTPClientRequest(url: url.absoluteString)
        prepared.method = HTTPMethod(rawValue: request.method)
        for field in request.headers { prepared.headers.add(name: field.name, value: field.value.reveal()) }
        if !prepared.headers.contains(name: "User-Agent") { prepared.headers.add(name: "User-Agent", value: userAgent) }
        if !prepared.headers.contains(name: "Accept-Encoding") {
            prepared.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        if request.closesConnection { prepared.headers.replaceOrAdd(name: "Connection", value: "close") }
        if let source = request.source {
            prepared.body = .stream(
                StreamedBody(source: source, stallDetector: stallDetector, group: group),
                length: source.length.map { .known(Int64($0)) } ?? .unknown)
        } else if let body = request.body {
            prepared.body = .bytes(body.revealBytes(), length: .known(Int64(body.count)))
        }
        return prepared
    }

    private func reply(from response: HTTPClientResponse) async throws -> HTTPResponse {
        if let sink = request.sink, (200..<300).contains(response.status.code) {
            return try await reply(from: response, into: sink)
        }
        let body = try await body(of: response)
        return Self.reply(response, body)
    }

    /// A short body is returned whole. A longer one goes to the sink, if that accepts it.
    private func reply(from response: HTTPClientResponse, into sink: any HTTPResponseSink) async throws -> HTTPResponse
    {
        let limit = largestReply
        var buffered: [UInt8] = []
        var isStreaming: Bool?
        for try await part in response.body {
            stallDetector.recordProgress()
            if isStreaming == true {
                let passed = unsafe part.withUnsafeReadableBytes { unsafe sink.pass($0) }
                guard passed < part.readableBytes else { continue }
                try await stallDetector.pausing { () async throws(TransportError) in
                    try await sink.receive([UInt8](part.readableBytesView.dropFirst(passed)))
                }
                continue
            }
            guard buffered.count + part.readableBytes <= limit else { throw TransportError.tooLarge(limit: limit) }
            buffered.append(contentsOf: part.readableBytesView)
            guard isStreaming == nil, buffered.count > HTTPStreamLimits.pieceBytes else { continue }
            isStreaming = sink.begin(Self.reply(response, buffered))
            if isStreaming == true { buffered = [] }
        }
        return Self.reply(response, buffered)
    }

    private var largestReply: Int { min(request.largestReply, attempt.limits.bodyBytes) }

    private static func reply(_ response: HTTPClientResponse, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: Int(response.status.code), headers: headers(of: response, decoded: !body.isEmpty), body: body)
    }

    /// Without the two that describe the compressed form of a decompressed body.
    private static func headers(of response: HTTPClientResponse, decoded: Bool) -> [(name: String, value: String)] {
        let coding = response.headers.first(name: "Content-Encoding")?.lowercased()
        let outdated: Set<String> =
            decoded && (coding == "gzip" || coding == "deflate") ? ["content-encoding", "content-length"] : []
        return response.headers.filter { !outdated.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
    }

    /// Counts the bytes that arrive. A declared length is used only if it is over the limit.
    private func body(of response: HTTPClientResponse) async throws -> [UInt8] {
        let limit = largestReply
        if request.method != "HEAD", let declared = response.headers.first(name: "Content-Length").flatMap({ Int($0) }),
            declared > limit
        {
            throw TransportError.tooLarge(limit: limit)
        }
        var bytes: [UInt8] = []
        for try await part in response.body {
            guard bytes.count + part.readableBytes <= limit else { throw TransportError.tooLarge(limit: limit) }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }
}

extension HTTPResponse {
    /// With the cookies of the redirects that led to it. They are from the same origin.
    fileprivate func adding(_ cookies: [(name: String, value: String)]) -> HTTPResponse {
        guard !cookies.isEmpty else { return self }
        return HTTPResponse(status: status, headers: cookies + headers, body: body)
    }
}
