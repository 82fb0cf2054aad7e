import AuthWire
import Foundation
import Testing

@testable import AuthDaemon

/// What `rpc.discover` says of each method, compared with what the readers of params and results accept.
///
/// The readers are asked from outside: with a value of the wrong kind for each name that a member may have, and with values
/// of each kind for those that they read.
@Suite("rpc.discover")
struct DiscoveryTests {
    private typealias Read = @Sendable (JSONObject) throws(AgentError) -> JSON

    /// Values of each kind; a reader accepts a kind if it accepts one of its values.
    private static let values: [(kind: String, values: [JSON])] = [
        (
            "string",
            [
                "a", "", "active", "ready", "online", "memory", "done", "default", "whole", "sealed-file", "GET",
                "https://a.example/",
            ]
        ),
        ("integer", [7]), ("number", [7.5]), ("boolean", [true]),
        (
            "object",
            [
                ["kind": "memory", "state": "ready"], ["session": "a", "provider": "p", "state": "active"],
                ["items": "/a"], ["pid": 1], [:], ["a": "b"],
            ]
        ),
        ("array", [["a"], [], ["session"], [["name": "a", "text": "b"]]]),
    ]

    /// Of its kind are instants alone, and they keep it.
    private static let probe: JSON = 7.5

    private static let results: [String: Read] = [
        "message": { json throws(AgentError) in try MessageResult(.object(json)).json },
        "info": { json throws(AgentError) in try AgentInfo(.object(json)).json },
        "pong": { json throws(AgentError) in try Pong(.object(json)).json },
        "stats": { json throws(AgentError) in try AgentStats(.object(json)).json },
        "store": { json throws(AgentError) in try StoreInfo(.object(json)).json },
        "providers": { json throws(AgentError) in try ProviderList(.object(json)).json },
        "provider": { json throws(AgentError) in try ProviderDetail(.object(json)).json },
        "problems": { json throws(AgentError) in try ProviderCheck(.object(json)).json },
        "step": { json throws(AgentError) in try Step(.object(json)).json },
        "sessions": { json throws(AgentError) in try SessionList(.object(json)).json },
        "status": { json throws(AgentError) in try SessionStatus(.object(json)).json },
        "token": { json throws(AgentError) in try TokenResult(.object(json)).json },
        "proof": { json throws(AgentError) in try ProofResult(.object(json)).json },
        "user": { json throws(AgentError) in try UserResult(.object(json)).json },
        "response": { json throws(AgentError) in try APIResponse(.object(json)).json },
        "taken": { json throws(AgentError) in try StreamTaken(.object(json)).json },
        "piece": { json throws(AgentError) in try StreamPiece(.object(json)).json },
        "network": { json throws(AgentError) in try NetworkStatus(.object(json)).json },
        "outbox": { json throws(AgentError) in try OutboxList(.object(json)).json },
        "parcel": { json throws(AgentError) in try ExportResult(.object(json)).json },
        "trust": { json throws(AgentError) in try TrustResult(.object(json)).json },
        "forgotten": { json throws(AgentError) in try ProviderForgotten(.object(json)).json },
        "imported": { json throws(AgentError) in try ImportResult(.object(json)).json },
    ]

    /// Without a reader: nothing, and the document itself.
    private static let unread: Set = ["nothing", "openrpc"]

    @Test("every method is described, by its name")
    func methods() throws {
        let methods = try #require(Discovery.document["methods"]?.arrayValue)
        #expect(methods.compactMap { $0["name"]?.stringValue } == MethodName.allCases.map(\.rawValue))
        #expect(methods.allSatisfy { $0["summary"]?.stringValue?.isEmpty == false })
        for member in ResultAbout.members["openrpc"] ?? [] { #expect(Discovery.document[member.name] != nil) }
    }

    @Test("the params are those that the method reads, with their kinds, and no others", arguments: MethodName.allCases)
    func params(method: MethodName) throws {
        let list = try #require(try Self.method(method)["params"]?.arrayValue)
        var described: [String: Described] = [:]
        for param in list {
            described[try #require(param["name"]?.stringValue)] = Described(
                kind: param["schema"]?["type"]?.stringValue, isRequired: param["required"] == true)
        }
        try Self.compare(described, method.rawValue) { params throws(AgentError) in
            let request = try AgentRequest(method: method.rawValue, params: .object(params))
            return request.params
        }
    }

    @Test("the members of each result are those that its reader reads", arguments: MethodName.allCases)
    func result(method: MethodName) throws {
        let result = try #require(try Self.method(method)["result"])
        let name = try #require(result["name"]?.stringValue)
        #expect(result["schema"]?["type"] == "object" && ResultAbout.members[name] != nil)
        guard !Self.unread.contains(name) else { return }
        let required = result["schema"]?["required"]?.arrayValue?.compactMap(\.stringValue) ?? []
        var described: [String: Described] = [:]
        for (key, schema) in try #require(result["schema"]?["properties"]?.objectValue) {
            described[key] = Described(kind: schema["type"]?.stringValue, isRequired: required.contains(key))
        }
        try Self.compare(described, name, try #require(Self.results[name]))
    }

    // MARK: One reader

    private struct Described {
        /// `nil`: any.
        let kind: String?
        let isRequired: Bool

        var kinds: [String] {
            switch kind {
            case nil: DiscoveryTests.values.map(\.kind)
            // A whole number is a number.
            case "number": ["integer", "number"]
            case let kind?: [kind]
            }
        }
    }

    private static func compare(_ described: [String: Described], _ what: String, _ read: Read) throws {
        let required = try required(read)
        #expect(Set(described.filter(\.value.isRequired).keys) == Set(required.keys), "required by \(what)")
        let names = try names()
        #expect(names.count > 300)
        let base = try read(required)
        let found = names.union(described.keys).filter { name in
            required[name] != nil || Self.reads(name, read, required, base)
        }
        #expect(Set(described.keys) == found, "\(what)")
        for (name, member) in described {
            let kinds = values.filter { _, values in
                values.contains { value in
                    var members = required
                    members[name] = value
                    return (try? read(members)) != nil
                }
            }.map(\.kind)
            #expect(kinds == member.kinds, "\(what) \(name)")
        }
    }

    /// The fewest members that it is read from, found by its own errors.
    private static func required(_ read: Read) throws -> JSONObject {
        var members = JSONObject()
        while let error = refusal(read, members) {
            let name = try #require(
                error.message.firstMatch(of: /([a-z_0-9]+): expected .*found nothing\./)?.1, "\(error)")
            let key = String(name)
            let outcomes = values.flatMap(\.values).map { value in
                var more = members
                more[key] = value
                return (value: value, next: refusal(read, more)?.message)
            }
            // With the right value nothing is wrong, or the next thing that is wrong is that another member is missing.
            let found =
                outcomes.first { $0.next == nil }
                ?? outcomes.first { $0.next != error.message && $0.next?.contains("found nothing") == true }
            members[key] = try #require(found?.value, "\(error)")
        }
        return members
    }

    private static func refusal(_ read: Read, _ members: JSONObject) -> AgentError? {
        do throws(AgentError) {
            _ = try read(members)
            return nil
        } catch {
            return error
        }
    }

    /// Whether it looks at a member of that name: it refuses a wrong kind of value, or keeps it.
    private static func reads(_ name: String, _ read: Read, _ required: JSONObject, _ base: JSON) -> Bool {
        var members = required
        members[name] = probe
        do throws(AgentError) {
            return try read(members) != base
        } catch {
            // What a method says to a name that it does not know is another thing.
            return !error.message.hasPrefix("params.\(name)") || error.message.contains(": expected ")
        }
    }

    private static func method(_ method: MethodName) throws -> JSON {
        let methods = try #require(Discovery.document["methods"]?.arrayValue)
        return try #require(methods.first { $0["name"]?.stringValue == method.rawValue })
    }

    /// Every word of the protocol's page: the name of a member is one of them.
    private static func names() throws -> Set<String> {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        let page = try String(contentsOf: folder.appendingPathComponent("Docs/protocol.md"), encoding: .utf8)
        return Set(page.matches(of: /[a-z][a-z_0-9]+/).map { String($0.output) })
    }
}
