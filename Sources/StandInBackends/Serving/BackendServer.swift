import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Serves the calls of one backend, with its misbehaviours.
struct BackendServer: Sendable {
    let backend: Backend
    let accounts: Accounts
    let orders: Orders
    let counts: ObservedValue<CallCounts>
    let keys: ObservedValue<[Backend: [String]]>
    private let shape: any Shape
    private let responder: RouterResponder<CallContext>

    init(
        backend: Backend, accounts: Accounts, counts: ObservedValue<CallCounts>,
        keys: ObservedValue<[Backend: [String]]>
    ) {
        self.backend = backend
        self.accounts = accounts
        self.counts = counts
        self.keys = keys
        orders = Orders()
        shape = backend.shape(accounts)
        responder = Routes(basePath: backend.basePath, shape: shape).responder()
    }

    @concurrent func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let path = Call.path(of: request, basePath: backend.basePath)
        let method = request.method.rawValue
        counts.update { $0.note(backend, method, path) }
        if let key = request.headers.first(where: { $0.name.canonicalName == "idempotency-key" })?.value {
            keys.update { $0[backend, default: []].append(key) }
        }
        let behaviour = orders.next(method: method, path: path) ?? Behaviour()

        if let delay = behaviour.delay { try await channel.delay(for: delay) }
        if behaviour.cut == .beforeAnswer { throw await cut(channel) }
        var answer =
            if behaviour.html {
                Self.page(status: behaviour.status ?? 200)
            } else if let status = behaviour.status {
                refusal(status, behaviour)
            } else {
                try await work(request, channel)
            }
        if behaviour.lostAnswer { throw await cut(channel) }
        if let late = behaviour.lateResponse { try await channel.delay(for: late) }
        if let retryAfter = behaviour.retryAfter { answer.headers.append(("retry-after", retryAfter)) }
        for (name, value) in behaviour.headers { answer.headers.append((name, value)) }
        answer.headers.append(
            ("date", Dates.http(Dates.unixSeconds(accounts.now + (behaviour.dateOffset?.inSeconds ?? 0)))))
        try await send(answer, writer, channel, behaviour)
    }

    private func work(_ request: Request, _ channel: any Channel) async throws -> Answer {
        let context = CallContext(
            source: .init(
                channel: channel, logger: Logger(label: "call", factory: { _ in SwiftLogNoOpLogHandler() })))
        return try await Answer(collecting: responder.respond(to: request, context: context))
    }

    @concurrent private func send(
        _ answer: Answer, _ writer: consuming ResponseWriter, _ channel: any Channel, _ behaviour: Behaviour
    ) async throws {
        guard behaviour.cut == .midBody || behaviour.slowBody != nil else { return try await answer.send(writer) }
        var body = try await writer.writeHead(answer.head)
        if behaviour.cut == .midBody {
            try await body.write(ByteBuffer(bytes: answer.body.prefix(answer.size / 2)))
            for piece in answer.long.prefix(answer.long.count / 2) { try await body.write(piece) }
            throw await cut(channel)
        }
        for byte in answer.body {
            try await channel.delay(for: behaviour.slowBody ?? .zero)
            try await body.write(ByteBuffer(bytes: [byte]))
        }
        try await body.finish(nil)
    }

    /// Closes the connection as a crashed server does.
    private func cut(_ channel: any Channel) async -> CutConnection {
        // This fails if the peer has already closed it.
        try? await channel.close()
        return CutConnection()
    }

    private func refusal(_ status: Int, _ behaviour: Behaviour) -> Answer {
        switch behaviour.body {
        case .string(let text)?: .text(text, status: status)
        case let value?: .json(value, status: status)
        case nil: shape.body(of: Refusal(status: status, message: "Out of order", code: "OUT_OF_ORDER"))
        }
    }

    private static func page(status: Int) -> Answer {
        let text = """
            <!DOCTYPE html>
            <html><head><title>Welcome</title></head><body><h1>Please accept the terms</h1></body></html>

            """
        return Answer(
            status: status, headers: [("content-type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }
}

/// Thrown to Hummingbird after the connection was closed on purpose.
struct CutConnection: Error {}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
