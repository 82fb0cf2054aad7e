import AuthFiles
package import AuthModel
import AuthWire

/// Where the access rules are: root's file, the user's file, and the copy of the user's file that was applied.
///
/// Invariant: the user's file itself is never in use, only its applied copy.
package struct PolicySources: Sendable {
    package typealias ReadRoot = @Sendable () throws(PolicyProblems) -> AccessPolicy.Rules
    package typealias ReadUser = @Sendable (_ path: String) throws(PolicyProblems) -> String?
    package typealias ParseUser =
        @Sendable (_ text: String, _ file: String) throws(PolicyProblems) -> AccessPolicy.Rules

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
    let readRoot: ReadRoot
    /// Reads the text of a file; `nil` if there is none.
    let readUser: ReadUser
    let parseUser: ParseUser

    package init(
        rootPath: String, userPath: String?, stateFolder: String?, readRoot: @escaping ReadRoot,
        readUser: @escaping ReadUser, parseUser: @escaping ParseUser
    ) {
        (self.rootPath, self.userPath) = (rootPath, userPath)
        appliedPath = stateFolder.map { $0 + "/policy.toml" }
        (self.readRoot, self.readUser, self.parseUser) = (readRoot, readUser, parseUser)
    }

    /// The rules for a start, and why files cannot be used. It reads files.
    package func start() -> (policy: AccessPolicy, problems: [String]) {
        var policy = AccessPolicy()
        var problems: [String] = []
        do throws(PolicyProblems) {
            policy.root = try readRoot()
        } catch {
            policy.root = .broken(.root)
            problems += error.texts
        }
        do throws(PolicyProblems) {
            policy.user = try applied().rules
        } catch {
            policy.user = .broken(.user)
            problems += error.texts
        }
        return (policy, problems)
    }

    /// The copy that was applied. It reads a file.
    func applied() throws(PolicyProblems) -> (text: String, rules: AccessPolicy.Rules) {
        guard let path = appliedPath, let text = try readUser(path) else { return ("", AccessPolicy.Rules()) }
        return (text, try parseUser(text, path))
    }

    /// The text of the user's file; empty without one. It reads a file.
    func userText() throws(PolicyProblems) -> String {
        guard let userPath else { return "" }
        return try readUser(userPath) ?? ""
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
