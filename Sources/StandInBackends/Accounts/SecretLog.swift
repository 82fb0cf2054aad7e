import Synchronization

/// Every secret that a stand-in sent or received, so that a test can search logs and files for it.
final class SecretLog: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case token, password, code
    }

    /// Shorter ones occur in logs by chance.
    static let shortest = 6

    /// A code as the user received it.
    struct Mail: Sendable, Equatable {
        let backend: Backend
        let email: String
        let purpose: String
        let code: String
    }

    private struct State {
        var seen: [Kind: [String]] = [:]
        var known: Set<String> = []
        var mail: [Mail] = []
    }

    private let state = Mutex(State())

    func note(_ kind: Kind, _ secret: String) {
        state.withLock { state in
            guard secret.utf8.count >= Self.shortest, state.known.insert(secret).inserted else { return }
            state.seen[kind, default: []].append(secret)
        }
    }

    func noteMail(_ mail: Mail) {
        note(.code, mail.code)
        state.withLock { $0.mail.append(mail) }
    }

    func all(_ kind: Kind) -> [String] { state.withLock { $0.seen[kind] ?? [] } }
    var mail: [Mail] { state.withLock { $0.mail } }
}
