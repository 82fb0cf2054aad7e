import AuthWire

/// The body of `authc request`, from `-d` or `-F`.
struct RequestBody {
    /// Fits in a line of the protocol as base64, with the rest of the request.
    static let longest = Limits.lineBytes / 4 * 3 - (16 << 10)

    var bytes: [UInt8]?
    /// The media type, unless the user gives one.
    var type: String?
    var parts: [MultipartPart]?
    /// A file that is too long for a line.
    var file: BodyFile?

    /// - Parameters:
    ///   - data: text, `@FILE`, or `@-` for stdin.
    ///   - forms: `NAME=TEXT` or `NAME=@FILE`, which may end with `;type=…` and `;filename=…`.
    init(data: String?, forms: [String]) throws(Failure) {
        guard data == nil || forms.isEmpty else { throw .usage("a request has one body: give -d or -F, not both") }
        if let data {
            switch try Self.content(data) {
            case .bytes(let bytes):
                self.bytes = bytes
                type = (try? JSON(parsing: bytes)) == nil ? "application/octet-stream" : "application/json"
            case .stream(let file):
                self.file = file
                type = "application/octet-stream"
            }
        }
        guard !forms.isEmpty else { return }
        var parts: [MultipartPart] = []
        for form in forms {
            let (part, file) = try Self.part(form)
            parts.append(part)
            guard let file else { continue }
            guard self.file == nil else { throw .secondLongFile }
            self.file = file
        }
        self.parts = parts
    }

    private static func content(_ data: String) throws(Failure) -> BodyFile.Content {
        guard data.hasPrefix("@") else { return .bytes(Array(data.utf8)) }
        return try BodyFile.open(String(data.dropFirst()), wholeUpTo: longest)
    }

    private static func part(_ form: String) throws(Failure) -> (MultipartPart, BodyFile?) {
        guard let equals = form.firstIndex(of: "="), equals != form.startIndex else {
            throw .usage("-F has the form NAME=TEXT or NAME=@FILE")
        }
        let name = String(form[..<equals])
        let value = form[form.index(after: equals)...]
        guard value.hasPrefix("@") else { return (MultipartPart(name: name, content: .text(String(value))), nil) }
        var words = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        let path = words.removeFirst()
        var part = MultipartPart(name: name, fileName: fileName(of: path), content: .base64(""))
        var file: BodyFile?
        switch try BodyFile.open(path, wholeUpTo: longest) {
        case .bytes(let bytes): part.content = .base64(Base64.encode(bytes))
        case .stream(let long): (part.content, file) = (.stream(long.announced), long)
        }
        for word in words {
            if word.hasPrefix("type=") {
                part.type = String(word.dropFirst(5))
            } else if word.hasPrefix("filename=") {
                part.fileName = String(word.dropFirst(9))
            } else {
                throw .usage("-F \(name)=@…: only ;type=… and ;filename=… may follow the file")
            }
        }
        return (part, file)
    }

    /// The folders must not be sent. Bytes: a slash with a combining mark is another character.
    private static func fileName(of path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
    }
}

extension Failure {
    static let secondLongFile = Failure.usage("only one file of a request may be longer than a line of the protocol")
}
