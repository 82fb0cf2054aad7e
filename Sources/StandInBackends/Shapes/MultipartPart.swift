/// The one part of a `multipart/form-data` body (RFC 7578 §4): a stand-in takes no more than one.
struct MultipartPart {
    let name: String
    let fileName: String?
    let type: String?
    let content: [UInt8]

    /// - Throws: 415 for another type, 400 for a body that is not exactly one well-formed part.
    init(of call: Call) throws(Refusal) {
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
        guard call.body.starts(with: start), let blank = Self.find(Array("\r\n\r\n".utf8), in: call.body[...]) else {
            throw broken
        }
        guard let close = Self.find(end, in: call.body[(blank + 4)...]) else { throw broken }
        let trailer = call.body[(close + end.count)...]
        guard trailer.isEmpty || Array(trailer) == Array("\r\n".utf8) else { throw broken }
        content = Array(call.body[(blank + 4)..<close])

        guard blank >= start.count else { throw broken }
        var fields: [String: String] = [:]
        for line in String(decoding: call.body[start.count..<blank], as: UTF8.self).split(separator: "\r\n") {
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

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= needle.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - needle.count)).first {
            bytes[$0] == needle[0] && bytes[$0..<($0 + needle.count)].elementsEqual(needle)
        }
    }
}
