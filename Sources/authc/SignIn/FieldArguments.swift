import AuthWire
import Glibc

/// The sign-in fields on the command line. Secrets are never in argv, where every process can read them.
struct FieldArguments {
    /// Far above any password or token, far below the protocol's limit for a line.
    private static let longestSecret = 64 << 10

    private var values: [String: String] = [:]
    /// The names of the fields in argv.
    private(set) var fromArguments: Set<String> = []
    /// The value of `--password-stdin`; the method names its field.
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

    /// Whether the method's fields must be known before these are sent.
    var needsMethod: Bool { !fromArguments.isEmpty || passwordFromInput != nil }

    /// Whether a secret was read, from a descriptor or from stdin.
    var hasSecrets: Bool { passwordFromInput != nil || values.count > fromArguments.count }

    /// All fields for `method`, unless argv has a secret.
    func checked(for method: SignInMethodInfo) throws(Failure) -> [String: String] {
        var result = values
        for name in fromArguments.sorted() {
            let known = method.fields + (method.later ?? [])
            guard let field = known.first(where: { $0.name == name }) else {
                let names = known.map(\.name)
                throw .usage(
                    "--field \(name): the method \(method.name) has no such field; use one of "
                        + names.joined(separator: ", "),
                    hint: NameAdvice.meant(name, among: names))
            }
            guard !field.secret else {
                throw .usage(
                    "--field \(name)=…: every program on this machine can read a secret in an argument",
                    hint:
                        "change that secret; then use --password-stdin or --secret-fd \(name)=3 3<FILE, or let authc ask for it"
                )
            }
        }
        if let passwordFromInput {
            guard let field = Self.password(of: method.fields) ?? Self.password(of: method.later ?? []) else {
                throw .usage("--password-stdin: the method \(method.name) has no secret field")
            }
            result[field.name] = passwordFromInput
        }
        return result
    }

    /// The field that `--password-stdin` is for.
    private static func password(of fields: [StepField]) -> StepField? {
        let secrets = fields.filter(\.secret)
        return secrets.first { $0.kind == "new-password" } ?? secrets.first { $0.name == "password" } ?? secrets.first
    }

    /// All fields, if none of them needs the method.
    var unchecked: [String: String] { values }

    /// Runs before anything is opened: otherwise a descriptor that the caller has not opened could be the agent's socket.
    /// - Parameter descriptors: `NAME=FD`.
    static func checkOpen(_ descriptors: [String]) throws(Failure) {
        for pair in descriptors {
            let (name, number) = try descriptor(pair)
            try checkOpen(number, for: "--secret-fd \(name)", typed: "--secret-fd \(name)=\(number)")
        }
    }

    private static func checkOpen(_ number: Int32, for name: String, typed: String) throws(Failure) {
        guard fcntl(number, F_GETFD) >= 0 else {
            throw .usage(
                "cannot read \(name): descriptor \(number) is not open",
                hint: "open it for this command: \(typed) \(number)<FILE")
        }
    }

    /// Reads the value of `--current-fd`, if there is one, before anything else is opened.
    static func currentPassphrase(from descriptor: Int32?, _ options: Options) throws(Failure) -> String? {
        guard let descriptor else { return nil }
        try checkOpen(descriptor, for: "--current-fd", typed: "--current-fd \(descriptor)")
        try options.prepareForSecrets()
        return try secret(from: descriptor, named: "--current-fd")
    }

    private static func descriptor(_ pair: String) throws(Failure) -> (name: String, number: Int32) {
        let (name, text) = try split(pair, "--secret-fd NAME=FD")
        guard let number = Int32(text), number >= 0 else {
            throw .usage(
                "--secret-fd \(name)=…: name an open descriptor, such as \(name)=3 3<FILE")
        }
        return (name, number)
    }

    private static func split(_ pair: String, _ form: String) throws(Failure) -> (String, String) {
        guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
            // The argument is not repeated: it may be a secret.
            throw .usage("the form is \(form)")
        }
        return (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
    }

    /// Reads a secret without the line feed that `echo` and editors add.
    static func secret(from descriptor: Int32, named name: String) throws(Failure) -> String {
        try ReadInputs.claim(descriptor, for: name)
        var bytes = try FileText.read(descriptor, named: name, atMost: longestSecret)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(name): the input is not UTF-8 text")
        }
        guard !text.isEmpty else { throw .usage("\(name): the input is empty") }
        return text
    }
}
