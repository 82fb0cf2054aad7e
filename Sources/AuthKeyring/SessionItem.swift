import AuthModel
import AuthWire
import GLibRuntime

/// The item of a session: what the user sees in Seahorse, and the attributes that identify it.
enum SessionItem {
    /// Excludes items of other programs named authd from the search.
    static let schema = "authd.Session"
    static let interface = "org.freedesktop.Secret.Item"

    static let everyOne = ["application": "authd", "xdg:schema": schema]

    static func attributes(finding session: SessionName) -> [String: String] {
        everyOne.merging(["session": session.text]) { $1 }
    }

    static func attributes(of record: SessionRecord) -> [String: String] {
        attributes(finding: record.session).merging(["provider": record.provider]) { $1 }
    }

    static func readingAttributes(of path: String, on bus: BusConnection) -> GIOCall<[String: String]> {
        CollectionWatch.reading("Attributes", of: path, interface: interface, on: bus) { found in
            var attributes: [String: String] = [:]
            for pair in found.members {
                guard let key = pair.members.first?.string, let value = pair.members.last?.string else { continue }
                attributes[key] = value
            }
            return attributes
        }
    }

    /// The session and provider in an item's attributes.
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
