import AuthModel
import AuthWire

/// How a session looks as an item of a keyring: what a person sees in Seahorse, and what it is found by.
enum SessionItem {
    /// Keeps items of other programs that call themselves authd out of the search.
    static let schema = "authd.Session"
    static let interface = "org.freedesktop.Secret.Item"

    static let everyOne = ["application": "authd", "xdg:schema": schema]

    static func attributes(finding session: SessionName) -> [String: String] {
        everyOne.merging(["session": session.text]) { $1 }
    }

    static func attributes(of record: SessionRecord) -> [String: String] {
        attributes(finding: record.session).merging(["provider": record.provider]) { $1 }
    }

    /// Whose item it is, by what it is found by.
    static func name(in attributes: [String: String]) -> StoredName? {
        guard let text = attributes["session"], let session = try? SessionName(text) else { return nil }
        return StoredName(session: session, provider: attributes["provider"] ?? "")
    }

    /// Such as `authd: ada@example.org at App template (work)`.
    static func label(of record: SessionRecord, providerTitle: String?) -> String {
        let person = record.user?.email ?? record.user?.name ?? record.user?.id
        let place = providerTitle ?? record.provider
        return "authd: " + (person.map { $0 + " at " } ?? "") + place + " (" + record.session.text + ")"
    }
}
