import AuthClient
import AuthWire
import Glibc

/// Replaces what belongs to the user in a text that others may read: names of sessions, accounts, providers, the user and the
/// machine, the home folder, e-mail addresses and URLs.
struct Redaction {
    private var replacements: [(word: String, with: String)] = []

    /// - Parameter bundled: the names of providers that are the same for everybody.
    init(_ sessions: [SessionStatus], bundled: Set<String>) {
        for (index, status) in sessions.enumerated() {
            add(status.session.text, "session-\(index + 1)")
            let user = status.user
            for word in [user?.email, user?.name, user?.id] { add(word, "account-\(index + 1)") }
        }
        let providers = Set(sessions.map(\.provider)).subtracting(bundled)
        for (index, name) in providers.sorted().enumerated() { add(name, "provider-\(index + 1)") }
        add(environmentValue("HOME"), "~")
        add(environmentValue("USER"), "USER")
        add(Self.machine, "HOST")
        // A name may be part of another one.
        replacements.sort { $0.word.count > $1.word.count }
    }

    func text(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word -> String in
            if let mark = word.firstRange(of: "://") { return word[..<mark.lowerBound] + "://…" }
            return word.contains("@") ? "…@…" : String(word)
        }
        return replacements.reduce(words.joined(separator: " ")) { Self.replacing($1.word, with: $1.with, in: $0) }
    }

    private mutating func add(_ word: String?, _ replacement: String) {
        guard let word, !word.isEmpty, word != "/", !replacements.contains(where: { $0.word == word }) else { return }
        replacements.append((word, replacement))
    }

    /// Whole words only.
    private static func replacing(_ word: String, with replacement: String, in text: String) -> String {
        var (result, rest) = ("", text[...])
        while let found = rest.firstRange(of: word) {
            let before = rest[..<found.lowerBound].last ?? result.last
            let isWhole = !isPart(before) && !isPart(rest[found.upperBound...].first)
            result += rest[..<found.lowerBound] + (isWhole ? replacement : word)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    private static func isPart(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }

    private static var machine: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
