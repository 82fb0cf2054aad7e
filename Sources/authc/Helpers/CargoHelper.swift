import AuthWire
import CommandArguments
import Glibc

/// A credential provider of cargo (The Cargo Book, Credential Provider Protocol). cargo calls a separate program: see
/// ``CargoConfiguration``.
struct CargoHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "cargo", abstract: "Give cargo a token for a registry.",
        discussion: "cargo calls it: `authc helper install cargo --for https://registry.example.org` configures that.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "What cargo passes to each credential provider.")
    var cargoPlugin = false

    @Flag(help: "Put the word Bearer before the token. Some registries require it.")
    var bearer = false

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try Output.json(["v": [1]])
        var lines = RequestLines()
        while let line = try lines.next() {
            guard !line.isEmpty else { continue }
            try Output.json(response(to: CargoRequest(line), options))
        }
        return .done
    }

    private func response(to request: CargoRequest, _ options: Options) -> JSON {
        switch request {
        case .get(let url, let arguments):
            guard let url else { return Self.error("url-not-supported") }
            do throws(Failure) {
                let token = try HelperToken(options: options, origin: url).get()
                return Self.response(token, isBearer: bearer || arguments.contains("--bearer"))
            } catch {
                error.report(asJSON: false)
                if error.isOtherOrigin { return Self.error("url-not-supported") }
                // cargo then suggests its own login.
                return error.isWithoutSession ? Self.error("not-found") : Self.other(error.message)
            }
        case .other(let kind):
            Output.note("authc: cargo \(Visible.line(kind)): authd does not store tokens of registries")
            return Self.error("operation-not-supported")
        case .invalid: return Self.other("not a request of version 1")
        }
    }

    private static func response(_ token: TokenResult, isBearer: Bool) -> JSON {
        var response: JSONObject = [
            "kind": "get", "token": .string((isBearer ? "Bearer " : "") + token.accessToken),
            "operation_independent": true, "cache": "session",
        ]
        if let end = token.expirySecond {
            response["cache"] = "expires"
            response["expiration"] = .integer(end)
        }
        return ["Ok": .object(response)]
    }

    private static func error(_ kind: String) -> JSON { ["Err": ["kind": .string(kind)]] }

    private static func other(_ message: String) -> JSON {
        ["Err": ["kind": "other", "message": .string(message), "caused-by": []]]
    }
}

/// One line from cargo.
enum CargoRequest: Equatable {
    /// The registry's origin is `nil` if it is not on HTTP. The arguments are those of cargo's configuration.
    case get(String?, arguments: [String])
    case other(String)
    case invalid

    init(_ line: [UInt8]) {
        guard let request = try? JSON(parsing: line), request["v"] == 1,
            let kind = request["kind"]?.stringValue
        else {
            self = .invalid
            return
        }
        guard kind == "get" else {
            self = .other(kind)
            return
        }
        var url = request["registry"]?["index-url"]?.stringValue ?? ""
        if url.hasPrefix("sparse+") { url.removeFirst("sparse+".count) }
        let isHTTP = url.hasPrefix("https://") || url.hasPrefix("http://")
        self = .get(isHTTP ? url : nil, arguments: request["args"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    }
}

/// Lines from stdin, each as soon as it has arrived.
private struct RequestLines {
    private var bytes: [UInt8] = []
    private var isAtEnd = false

    /// - Returns: a line without its LF; `nil` at the end.
    mutating func next() throws(Failure) -> [UInt8]? {
        var part = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeFirst(end + 1) }
                return Array(bytes[..<end])
            }
            guard !isAtEnd else {
                defer { bytes = [] }
                return bytes.isEmpty ? nil : bytes
            }
            guard bytes.count <= Helper.longestRequest else {
                throw .usage("a line of stdin is longer than \(Helper.longestRequest) bytes")
            }
            let count = unsafe read(STDIN_FILENO, &part, part.count)
            if count < 0 {
                guard errno == EINTR else { throw .usage("cannot read stdin: \(SystemError.text(errno))") }
                continue
            }
            isAtEnd = count == 0
            bytes += part[..<count]
        }
    }
}
