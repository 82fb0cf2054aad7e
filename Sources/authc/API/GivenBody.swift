import AuthWire
import Glibc

/// The body of `authc request`, as `-d` or `-F` gives it.
struct GivenBody {
    /// What fits into a line of the protocol as base64, beside the rest of the request.
    static let longest = Limits.lineBytes / 4 * 3 - (16 << 10)

    var bytes: [UInt8]?
    /// What the bytes are, where the person does not say.
    var type: String?
    var parts: [MultipartPart]?

    /// - Parameters:
    ///   - data: a text, or `@FILE`, or `@-` for stdin.
    ///   - forms: `NAME=TEXT` or `NAME=@FILE`, with `;type=…` and `;filename=…` behind.
    init(data: String?, forms: [String]) throws(Failure) {
        guard data == nil || forms.isEmpty else { throw .usage("-d and -F are two bodies, and a request has one") }
        if let data {
            let bytes = try Self.bytes(data)
            self.bytes = bytes
            type = (try? JSON(parsing: bytes)) == nil ? "application/octet-stream" : "application/json"
        }
        guard !forms.isEmpty else { return }
        var parts: [MultipartPart] = []
        for form in forms { parts.append(try Self.part(form)) }
        self.parts = parts
    }

    private static func bytes(_ data: String) throws(Failure) -> [UInt8] {
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        return try FileBytes.read(String(data.dropFirst()), atMost: longest)
    }

    private static func part(_ form: String) throws(Failure) -> MultipartPart {
        guard let equals = form.firstIndex(of: "="), equals != form.startIndex else {
            throw .usage("-F NAME=TEXT or NAME=@FILE: there is no name before a '='")
        }
        let name = String(form[..<equals])
        let value = form[form.index(after: equals)...]
        guard value.hasPrefix("@") else { return MultipartPart(name: name, content: .text(String(value))) }
        var words = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        let path = words.removeFirst()
        var part = MultipartPart(
            name: name, fileName: FileBytes.name(of: path),
            content: .base64(Base64.encode(try FileBytes.read(path, atMost: longest))))
        for word in words {
            if word.hasPrefix("type=") {
                part.type = String(word.dropFirst(5))
            } else if word.hasPrefix("filename=") {
                part.fileName = String(word.dropFirst(9))
            } else {
                throw .usage("-F \(name)=@…: after the file come ;type=… and ;filename=… only")
            }
        }
        return part
    }
}

/// Files of bytes, read whole.
enum FileBytes {
    static func read(_ path: String, atMost limit: Int) throws(Failure) -> [UInt8] {
        let number = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot open \(path) (error \(errno))") }
        defer { close(number) }
        return try FileText.read(number, named: path, atMost: limit)
    }

    static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
