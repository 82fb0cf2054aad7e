import HTTPTypes
import Hummingbird
import NIOCore

/// A backend's calls by method and path, on Hummingbird's router.
struct Routes {
    typealias Handler = @Sendable (Call) async throws(Refusal) -> Answer

    /// Larger than any body that a stand-in accepts whole.
    static let bodyBytes = 4 << 20
    /// The limit for a picture, which tests of long bodies send.
    static let longBodyBytes = 256 << 20

    private let router = Router(context: CallContext.self)
    private let basePath: String

    init(basePath: String, shape: any Shape) {
        self.basePath = basePath
        router.add(middleware: RequestHeaders(shape: shape))
        shape.add(to: self)
    }

    func get(_ path: String, _ handler: @escaping Handler) { on(.get, path, handler) }
    func post(_ path: String, _ handler: @escaping Handler) { on(.post, path, handler) }
    func put(_ path: String, _ handler: @escaping Handler) { on(.put, path, handler) }
    func delete(_ path: String, _ handler: @escaping Handler) { on(.delete, path, handler) }

    func responder() -> RouterResponder<CallContext> {
        router.buildResponder()
    }

    /// For a long body, which the handler gets in pieces. The call's `body` is empty.
    func postLong(
        _ path: String, _ handler: @escaping @Sendable (Call, [ByteBuffer]) async throws(Refusal) -> Answer
    ) {
        let basePath = basePath
        router.on(RouterPath(stringLiteral: basePath + path), method: .post) { request, _ in
            var pieces: [ByteBuffer] = []
            var size = 0
            for try await piece in request.body {
                size += piece.readableBytes
                guard size <= Self.longBodyBytes else { throw HTTPError(.contentTooLarge) }
                pieces.append(piece)
            }
            return try await handler(Call(request, basePath: basePath, body: []), pieces).response()
        }
    }

    private func on(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        let basePath = basePath
        router.on(RouterPath(stringLiteral: basePath + path), method: method) { request, context in
            var call = try await Call(reading: request, basePath: basePath)
            call.client = context.client
            for (name, value) in context.parameters { call.parameters[String(name)] = String(value) }
            return try await handler(call).response()
        }
    }
}

/// Hummingbird's context of a request, without additions.
struct CallContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the client.
    let client: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        client = source.channel.remoteAddress?.ipAddress
    }
}

extension Call {
    init(reading request: Request, basePath: String) async throws {
        let body = try await request.body.collect(upTo: Routes.bodyBytes)
        self.init(request, basePath: basePath, body: [UInt8](body.readableBytesView))
    }

    fileprivate init(_ request: Request, basePath: String, body: [UInt8]) {
        self.init(
            method: request.method.rawValue,
            path: Call.path(of: request, basePath: basePath),
            query: Dictionary(
                request.uri.queryParameters.map { (String($0.key), String($0.value)) },
                uniquingKeysWith: { _, last in last }),
            headers: request.headers.map { ($0.name.canonicalName, $0.value) },
            body: body)
    }

    /// The path relative to the backend's base URL, as in misbehaviours and counts.
    static func path(of request: Request, basePath: String) -> String {
        let path = request.uri.path
        return path.hasPrefix(basePath) ? String(path.dropFirst(basePath.count)) : path
    }
}
