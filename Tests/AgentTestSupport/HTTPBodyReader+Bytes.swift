package import AuthModel

extension HTTPBodyReader {
    /// The bytes of the next piece, even if they are in a socket; `nil` at the end.
    package func nextBytes() async throws(TransportError) -> [UInt8]? {
        while let piece = try await next() {
            switch piece {
            case .bytes(let bytes): return bytes
            case .input(let input):
                let bytes = [UInt8](unsafeUninitializedCapacity: HTTPStreamLimits.pieceBytes) { room, count in
                    count = input.read(into: UnsafeMutableRawBufferPointer(room))
                }
                if !bytes.isEmpty { return bytes }
            }
        }
        return nil
    }
}
