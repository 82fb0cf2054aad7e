import AuthWire
import Glibc

/// What a sign-in's caller gave beforehand, by field name; secrets never by argv, where every process can read them.
struct FieldArguments {
    /// Far above any password or token, far below the protocol's line.
    private static let longestSecret = 64 << 10

    private var values: [String: String] = [:]
    /// Those that came by argv.
    private(set) var fromArguments: Set<String> = []
    /// `--password-stdin`, whose field's name the method tells.
    private(set) var passwordFromInput: String?

    /// - Parameters:
    ///   - fields: `NAME=VALUE`.
    ///   - descriptors: `NAME=FD`.
    init(fields: [String], descriptors: [String], passwordFromInput: Bool) throws(Failure) {
        for field in fields {
            let (name, value) = try Self.split(field, "--field NAME=VALUE")
            values[name] = value
            fromArguments.insert(name)
        }
        for pair in descriptors {
            let (name, number) = try Self.descriptor(pair)
            guard values[name] == nil else { throw .usage("\(name) is given twice") }
            values[name] = try Self.secret(from: number, named: "--secret-fd \(name)")
        }
        if passwordFromInput { self.passwordFromInput = try Self.secret(from: STDIN_FILENO, named: "--password-stdin") }
    }

    /// Whether the method's fields must be known before these may be sent.
    var needsMethod: Bool { !fromArguments.isEmpty || passwordFromInput != nil }

    /// All of it for `method`, after what argv may not carry was refused.
    func checked(for method: SignInMethodInfo) throws(Failure) -> [String: String] {
        var result = values
        for name in fromArguments.sorted() {
            guard let field = method.fields.first(where: { $0.name == name }) else {
                let names = method.fields.map(\.name).joined(separator: ", ")
                throw .usage("--field \(name): the method \(method.name) has no such field; it has \(names)")
            }
            guard !field.secret else {
                throw .usage(
                    "--field \(name)=…: a secret given as an argument can be read by every program of this machine",
                    hint:
                        "use --password-stdin or --secret-fd \(name)=3 3<FILE, or let authc ask; and change that secret"
                )
            }
        }
        if let passwordFromInput {
            let secrets = method.fields.filter(\.secret)
            let new = secrets.first { $0.kind == "new-password" }
            guard let field = new ?? secrets.first(where: { $0.name == "password" }) ?? secrets.first else {
                throw .usage("--password-stdin: the method \(method.name) asks for no secret")
            }
            result[field.name] = passwordFromInput
        }
        return result
    }

    /// As they are, where nothing of them needs the method.
    var unchecked: [String: String] { values }

    /// Before anything is opened: a descriptor that the caller has not opened would be the connection to the agent then.
    /// - Parameter descriptors: `NAME=FD`.
    static func checkOpen(_ descriptors: [String]) throws(Failure) {
        for pair in descriptors {
            let (name, number) = try descriptor(pair)
            guard fcntl(number, F_GETFD) >= 0 else {
                throw .usage(
                    "cannot read --secret-fd \(name): descriptor \(number) is not open",
                    hint: "open it for this command: --secret-fd \(name)=\(number) \(number)<FILE")
            }
        }
    }

    private static func descriptor(_ pair: String) throws(Failure) -> (name: String, number: Int32) {
        let (name, text) = try split(pair, "--secret-fd NAME=FD")
        guard let number = Int32(text), number >= 0 else {
            throw .usage(
                "--secret-fd \(name)=…: give the number of an open descriptor, as in \(name)=3 3<FILE")
        }
        return (name, number)
    }

    private static func split(_ pair: String, _ form: String) throws(Failure) -> (String, String) {
        guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
            // What was typed is not repeated: it may be a secret.
            throw .usage("\(form): there is no name before a '='")
        }
        return (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
    }

    /// Without the line feed that `echo` and editors add.
    static func secret(from descriptor: Int32, named name: String) throws(Failure) -> String {
        var bytes = try FileText.read(descriptor, named: name, atMost: longestSecret)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .usage("\(name): not UTF-8 text") }
        guard !text.isEmpty else { throw .usage("\(name): nothing came") }
        return text
    }
}
