import NIOCore
import NIOPosix
import Testing

@testable import AuthHTTP

@Suite("A body that is sent while it arrives")
struct RelayUploadTests {
    @Test("pieces that have arrived before they can be sent are sent as one, and all are accepted then")
    func joined() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let last = try await loop.submit { () -> EventLoopFuture<Void> in
            let upload = RelayUpload(length: nil, on: loop)
            let accepted = (1...50_000).map { upload.write(ByteBuffer(string: "\($0 % 10)")) }
            upload.begin {}
            guard case .piece(let piece, let promise) = upload.next() else { throw NoPiece() }
            #expect(piece.readableBytes == 50_000 && String(buffer: piece).hasPrefix("12345678901"))
            guard case .nothing = upload.next() else { throw NoPiece() }
            promise.succeed()
            upload.end()
            guard case .end = upload.next() else { throw NoPiece() }
            return .andAllSucceed(accepted, on: loop)
        }.get()
        try await last.get()
    }

    private struct NoPiece: Error {}
}
