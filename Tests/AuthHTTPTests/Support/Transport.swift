import AuthHTTP
import AuthModel
import NIOPosix

/// A separate transport for a test, closed at the end.
func withTransport<Result: Sendable>(
    _ configuration: AsyncHTTPTransport.Configuration = .init(version: "1.2.3"),
    _ body: (AsyncHTTPTransport) async throws -> Result
) async throws -> Result {
    let transport = try AsyncHTTPTransport(configuration, group: MultiThreadedEventLoopGroup.singleton)
    do {
        let result = try await body(transport)
        await transport.shutdown()
        return result
    } catch {
        await transport.shutdown()
        throw error
    }
}

extension AsyncHTTPTransport {
    func get(
        _ url: String, headers: [HTTPField] = [], largest: Int = HTTPRequest.largestDocument
    ) async throws(TransportError) -> HTTPResponse {
        var request = HTTPRequest(method: "GET", url: url, headers: headers)
        request.largestReply = largest
        return try await send(request)
    }

    /// Why a GET gave no answer; nil when it gave one.
    func failure(
        _ url: String, headers: [HTTPField] = [], largest: Int = HTTPRequest.largestDocument
    ) async -> TransportError? {
        do {
            _ = try await get(url, headers: headers, largest: largest)
            return nil
        } catch {
            return error
        }
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
