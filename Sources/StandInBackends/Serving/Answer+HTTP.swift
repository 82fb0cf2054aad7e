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
        Response(status: .init(code: status), headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// The whole of a response, so that it can be sent in another way than it was meant.
    init(collecting response: Response) async throws {
        let collected = CollectingWriter.Collected()
        try await response.body.write(CollectingWriter(collected: collected))
        self.init(
            status: response.status.code,
            headers: response.headers.filter { $0.name != .contentLength }.map { ($0.name.canonicalName, $0.value) },
            body: [UInt8](collected.bytes.withLock { $0 }.readableBytesView))
    }

    /// Sends it; content-length is that of the body unless it was set on purpose.
    @concurrent func send(_ writer: consuming ResponseWriter) async throws {
        var body = try await writer.writeHead(head)
        if !self.body.isEmpty { try await body.write(ByteBuffer(bytes: self.body)) }
        try await body.finish(nil)
    }

    var head: HTTPResponse {
        var head = HTTPResponse(status: .init(code: status), headerFields: fields)
        // RFC 9110 §8.6: not with 204.
        if status != 204 { head.headerFields[.contentLength] = String(body.count) }
        return head
    }
}
