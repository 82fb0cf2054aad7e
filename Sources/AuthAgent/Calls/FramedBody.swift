internal import AuthModel
internal import AuthWire
internal import Synchronization

/// A streamed body with the bytes before and after it: the other parts of a form, or nothing.
struct FramedBody: HTTPBodySource {
    let before: Secret
    let pipe: UploadPipe
    let after: [UInt8]

    var length: Int? { pipe.announced.size.map { before.count + $0 + after.count } }

    func begin() -> any HTTPBodyReader { Reader(body: self, content: pipe.begin()) }

    private final class Reader: HTTPBodyReader {
        private enum Place {
            case before, content, after, end
        }

        private let body: FramedBody
        private let content: UploadPipe.Reading
        private let place = Mutex(Place.before)

        init(body: FramedBody, content: UploadPipe.Reading) {
            self.body = body
            self.content = content
        }

        func next() async throws(TransportError) -> HTTPBodyPiece? {
            while true {
                switch place.withLock({ $0 }) {
                case .before:
                    place.withLock { $0 = .content }
                    if body.before.count > 0 { return .bytes(body.before.revealBytes()) }
                case .content:
                    if let piece = try await content.next() { return piece }
                    place.withLock { $0 = .after }
                case .after:
                    place.withLock { $0 = .end }
                    if !body.after.isEmpty { return .bytes(body.after) }
                case .end: return nil
                }
            }
        }
    }
}
