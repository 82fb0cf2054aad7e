import Hummingbird
import HummingbirdCore
import NIOCore

/// A backend whose answers a test writes. It keeps every request.
package final class ScriptedBackend: Sendable {
    package struct Received: Sendable {
        package let method: String
        /// With the query.
        package let target: String
        /// Lower-case names, in the order received.
        package let headers: [(name: String, value: String)]
        package let body: String

        package var path: String { String(target.prefix { $0 != "?" }) }

        package func header(_ name: String) -> String? { all(name).first }

        package func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    }

    package struct Reply: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: String

        /// - Parameter type: `nil` for a response without one.
        package init(
            _ status: Int = 200, _ body: String = "", type: String? = "application/json",
            _ headers: [(name: String, value: String)] = []
        ) {
            self.status = status
            self.body = body
            self.headers = (type.map { [(name: "content-type", value: $0)] } ?? []) + headers
        }
    }

    private let listener: Listener
    private let received: ObservedValue<[Received]>

    private init(host: String, _ reply: @escaping @Sendable (Received) -> Reply) throws {
        let received = ObservedValue<[Received]>([])
        self.received = received
        listener = try Listener(host: host) { request, writer, _ in
            let body = try await request.body.collect(upTo: Routes.bodyBytes)
            let call = Received(
                method: request.method.rawValue, target: request.head.path ?? "/",
                headers: request.headers.map { ($0.name.canonicalName, $0.value) }, body: String(buffer: body))
            received.update { $0.append(call) }
            let reply = reply(call)
            try await Answer(status: reply.status, headers: reply.headers, body: Array(reply.body.utf8)).send(writer)
        }
    }

    /// Runs the server while the body runs. It listens before the body starts.
    package static func serving<Result: Sendable>(
        host: String = "127.0.0.1", _ reply: @escaping @Sendable (Received) -> Reply,
        _ body: @Sendable @escaping (ScriptedBackend) async throws -> Result
    ) async throws -> Result {
        let backend = try ScriptedBackend(host: host, reply)
        return try await withServer(backend.listener.run) {
            try await backend.listener.waitUntilListening()
            return try await body(backend)
        }
    }

    package var url: String { "http://\(listener.authority)" }

    package var requests: [Received] { received.value }

    package func requests(to path: String) -> [Received] { requests.filter { $0.path == path } }

    /// Waits for requests. One is recorded before its response is sent.
    package func waitForRequests(_ matches: @escaping @Sendable ([Received]) -> Bool) async throws {
        try await received.wait(until: matches)
    }

    /// Starts or stops listening, on the same port.
    package func setListening(_ listening: Bool) async throws { try await listener.setListening(listening) }
}
