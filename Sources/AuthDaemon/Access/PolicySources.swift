import AuthFiles
package import AuthModel
import AuthWire

/// Where the access rules are: root's file, the user's file, and the copy of the user's file that was applied.
///
/// Invariant: the user's file itself is never in use, only its applied copy.
package struct PolicySources: Sendable {
    package typealias Parsed = Result<AccessPolicy.Rules, PolicyProblems>

    /// Why a file cannot be used: one text for each problem.
    package struct PolicyProblems: Error, Sendable, Equatable {
        package let texts: [String]

        package init(_ texts: [String]) { self.texts = texts }
    }

    package let rootPath: String
    /// `nil`: the environment has no home.
    package let userPath: String?
    /// `nil`: nothing can be applied.
    package let appliedPath: String?
    /// Reads root's rules. Without a file there are none.
    let readRoot: @Sendable () -> Parsed
    /// Reads the text of a file; `nil` if there is none.
    let readUser: @Sendable (_ path: String) -> Result<String?, PolicyProblems>
    let parseUser: @Sendable (_ text: String, _ file: String) -> Parsed

    package init(
        rootPath: String, userPath: String?, stateFolder: String?, readRoot: @escaping @Sendable () -> Parsed,
        readUser: @escaping @Sendable (_ path: String) -> Result<String?, PolicyProblems>,
        parseUser: @escaping @Sendable (_ text: String, _ file: String) -> Parsed
    ) {
        (self.rootPath, self.userPath) = (rootPath, userPath)
        appliedPath = stateFolder.map { $0 + "/policy.toml" }
        (self.readRoot, self.readUser, self.parseUser) = (readRoot, readUser, parseUser)
    }

    /// The rules for a start, and why files cannot be used. It reads files.
    package func start() -> (policy: AccessPolicy, problems: [String]) {
        var policy = AccessPolicy()
        var problems: [String] = []
        switch readRoot() {
        case .success(let rules): policy.root = rules
        case .failure(let failure):
            policy.root = .broken(.root)
            problems += failure.texts
        }
        switch applied() {
        case .success((_, let rules)): policy.user = rules
        case .failure(let failure):
            policy.user = .broken(.user)
            problems += failure.texts
        }
        return (policy, problems)
    }

    /// The copy that was applied. It reads a file.
    func applied() -> Result<(text: String, rules: AccessPolicy.Rules), PolicyProblems> {
        guard let path = appliedPath else { return .success(("", AccessPolicy.Rules())) }
        return readUser(path).flatMap { text in
            guard let text else { return .success(("", AccessPolicy.Rules())) }
            return parseUser(text, path).map { (text, $0) }
        }
    }

    /// The text of the user's file; empty without one. It reads a file.
    func userText() -> Result<String, PolicyProblems> {
        guard let userPath else { return .success("") }
        return readUser(userPath).map { $0 ?? "" }
    }

    /// Makes this text the applied one. It writes a file.
    func apply(_ text: String) -> Result<Void, SystemFailure> {
        guard let appliedPath else {
            return .failure(SystemFailure("store the rules", because: "neither XDG_STATE_HOME nor HOME is set"))
        }
        let file = StateFile<String>(
            AtomicFile(path: appliedPath), encode: { Array($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
        return Result { () throws(SystemFailure) in try file.replace(text) }
    }
}
