/// A `token.get` in the usual form, recognised from its bytes, because it is the most frequent request.
///
/// ``RPCRequest`` reads the same lines with the same meaning, and all others.
public struct PlainTokenRequest: Equatable, Sendable {
    /// The place of the id: a whole number of at most 18 digits, which is returned unchanged.
    public let id: Range<Int>
    public let session: SessionName?

    /// - Parameter line: without its line feed.
    public init?(_ line: Span<UInt8>) {
        var scan = PlainRequestScan()
        guard let id = scan.readID(of: line), scan.consume(#","method":"token.get","params":{"#, of: line),
            let params = scan.readParams(of: line)
        else { return nil }
        self.id = id
        session = params.session
    }

    /// The place of the id, if the line begins like a plain request.
    public static func id(of line: Span<UInt8>) -> Range<Int>? {
        var scan = PlainRequestScan()
        return scan.readID(of: line)
    }
}
