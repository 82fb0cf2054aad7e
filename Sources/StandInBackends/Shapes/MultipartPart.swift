import NIOCore

/// The only part of a `multipart/form-data` body (RFC 7578 §4).
struct MultipartPart {
    let name: String
    let fileName: String?
    let type: String?
    let content: [ByteBuffer]

    /// Longer than any part's head.
    private static let longestHead = 64 << 10

    /// - Throws: 415 for another type, 400 for a body that is not exactly one valid part. A body over ``Routes/bodyBytes`` is
    ///   not searched for another part.
    init(of call: Call, _ pieces: [ByteBuffer]) throws(Refusal) {
        let (type, parameters) = Self.header(call.header("content-type") ?? "")
        guard type == "multipart/form-data" else {
            throw Refusal(
                status: 415, message: "Content-Type must be multipart/form-data", code: "UNSUPPORTED_MEDIA_TYPE")
        }
        guard let boundary = parameters["boundary"], !boundary.isEmpty else {
            throw .badRequest("The multipart boundary is missing")
        }
        let broken = Refusal.badRequest("The multipart body is broken")
        let start = Array("--\(boundary)\r\n".utf8)
        let end = Array("\r\n--\(boundary)--".utf8)
        let size = pieces.reduce(0) { $0 + $1.readableBytes }
        let head = Self.bytes(0..<min(size, Self.longestHead), of: pieces)
        guard head.starts(with: start), let blank = Self.find(Array("\r\n\r\n".utf8), in: head[...]) else {
            throw broken
        }
        let close: Int
        if size <= Routes.bodyBytes {
            let whole = Self.bytes(0..<size, of: pieces)
            guard let found = Self.find(end, in: whole[(blank + 4)...]) else { throw broken }
            close = found
        } else {
            let tail = Self.bytes((size - end.count - 2)..<size, of: pieces)
            guard let found = Self.find(end, in: tail[...]) else { throw broken }
            close = size - tail.count + found
        }
        let trailer = Self.bytes((close + end.count)..<size, of: pieces)
        guard trailer.isEmpty || trailer == Array("\r\n".utf8) else { throw broken }
        content = Self.slices((blank + 4)..<close, of: pieces)

        guard blank >= start.count else { throw broken }
        var fields: [String: String] = [:]
        for line in String(decoding: head[start.count..<blank], as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { throw broken }
            fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...])
        }
        let (disposition, about) = Self.header(fields["content-disposition"] ?? "")
        guard disposition == "form-data", let name = about["name"] else { throw broken }
        self.name = name
        fileName = about["filename"]
        self.type = fields["content-type"].map { Self.header($0).value }
    }

    /// A field of the form `value; name=text; name="text"`, names and value in lower case.
    private static func header(_ text: String) -> (value: String, parameters: [String: String]) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let value = part[part.index(after: equals)...]
            let bare = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            parameters[part[..<equals].lowercased()] = String(bare ? value.dropFirst().dropLast() : value)
        }
        return (parts.first?.lowercased() ?? "", parameters)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    private static func bytes(_ range: Range<Int>, of pieces: [ByteBuffer]) -> [UInt8] {
        slices(range, of: pieces).flatMap { [UInt8]($0.readableBytesView) }
    }

    private static func slices(_ range: Range<Int>, of pieces: [ByteBuffer]) -> [ByteBuffer] {
        var slices: [ByteBuffer] = []
        var start = 0
        for piece in pieces {
            let part = range.clamped(to: start..<(start + piece.readableBytes))
            let offset = piece.readerIndex + part.lowerBound - start
            if !part.isEmpty, let slice = piece.getSlice(at: offset, length: part.count) { slices.append(slice) }
            start += piece.readableBytes
        }
        return slices
    }

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= needle.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - needle.count)).first {
            bytes[$0] == needle[0] && bytes[$0..<($0 + needle.count)].elementsEqual(needle)
        }
    }
}
