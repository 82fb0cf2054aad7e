import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

extension Answer {
    var fields: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    func response() -> Response {
        let pieces = [ByteBuffer(bytes: body)] + long
        return Response(
            status: .init(code: status), headers: fields,
            body: .init { writer in
                for piece in pieces { try await writer.write(piece) }
                try await writer.finish(nil)
            })
    }

    /// Collects a whole response, so that it can be sent with misbehaviour.
    init(collecting response: Response) async throws {
        let collected = CollectingWriter.Collected()
        try await response.body.write(CollectingWriter(collected: collected))
        var pieces = collected.pieces.withLock { $0 }
        let body = pieces.isEmpty ? ByteBuffer() : pieces.removeFirst()
        self.init(
            status: response.status.code,
            headers: response.headers.filter { $0.name != .contentLength }.map { ($0.name.canonicalName, $0.value) },
            body: [UInt8](body.readableBytesView))
        long = pieces
    }

    @concurrent func send(_ writer: consuming ResponseWriter) async throws {
        var body = try await writer.writeHead(head)
        if !self.body.isEmpty { try await body.write(ByteBuffer(bytes: self.body)) }
        for piece in long { try await body.write(piece) }
        try await body.finish(nil)
    }

    var head: HTTPResponse {
        var head = HTTPResponse(status: .init(code: status), headerFields: fields)
        // Not with 204 (RFC 9110 §8.6).
        if status != 204 { head.headerFields[.contentLength] = String(size) }
        return head
    }
}
