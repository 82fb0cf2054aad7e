import AuthWire
import Foundation
import Testing

@testable import AuthDaemon

/// Compares `rpc.discover` with what the decoders of params and results accept.
///
/// The decoders are tested from outside: with a value of the wrong type for each possible member name, and with values of each
/// type for those that they read.
@Suite("rpc.discover")
struct DiscoveryTests {
    private typealias Read = @Sendable (JSONObject) throws(AgentError) -> JSON

    /// A SHA-256 hash in base64url.
    private static let challenge = String(repeating: "a", count: LoginLend.challengeLength)

    /// Values of each type; a decoder accepts a type if it accepts one of its values.
    private static let values: [(kind: String, values: [JSON])] = [
        (
            "string",
            [
                "a", "", "active", "ready", "online", "memory", "done", "off", "default", "whole", "sealed-file", "GET",
                "https://a.example/", .string(challenge),
            ]
        ),
        ("integer", [7]), ("number", [7.5]), ("boolean", [true]),
        (
            "object",
            [
                ["kind": "memory", "state": "ready"], ["session": "a", "provider": "p", "state": "active"],
                ["items": "/a"], ["pid": 1], [:], ["a": "b"], ["locked": true],
                ["kind": "header", "name": "a", "value": "b"], ["client_id": "c", "scopes": []],
                ["client_id": "c", "issuer": "i", "device": true],
            ]
        ),
        ("array", [["a"], [], ["session"], [["name": "a", "text": "b"]]]),
    ]

    /// Only instants accept it, and they keep it.
    private static let probe: JSON = 7.5

    @Test("every method has its name and access class")
    func methods() throws {
        let methods = Discovery.document.methods
        #expect(methods.compactMap { $0["name"]?.stringValue } == AgentMethods.all.map { $0.name })
        #expect(methods.compactMap { $0["x-access"]?.stringValue } == AgentMethods.all.map { $0.access.rawValue })
        #expect(methods.allSatisfy { $0["summary"]?.stringValue?.isEmpty == false })
    }

    private static let names = AgentMethods.all.map { $0.name }

    @Test("the params are those that the method reads, with their types", arguments: names)
    func params(name: String) throws {
        let list = try #require(try Self.method(name)["params"]?.arrayValue)
        var described: [String: Described] = [:]
        for param in list {
            described[try #require(param["name"]?.stringValue)] = Described(
                kind: param["schema"]?["type"]?.stringValue, isRequired: param["required"] == true)
        }
        let method = try #require(AgentMethods.named(name))
        let chosen: [String: JSONObject] = [
            // A sign-in is to a provider or to a URL.
            LoginStart.name: ["provider": "p"],
            // In a browser, or with a device code; to an issuer, or to a page.
            LoginLend.name: ["code_challenge": .string(Self.challenge), "state": "s", "issuer": "i"],
        ]
        try Self.compare(described, name, chosen: chosen[name] ?? [:]) { params throws(AgentError) in
            try method.init(params: .object(params)).json
        }
    }

    @Test("the members of each result are those that its decoder reads", arguments: names)
    func result(name: String) throws {
        let schema = try #require(try Self.method(name)["result"]?["schema"])
        #expect(schema["type"] == "object")
        let required = schema["required"]?.arrayValue?.compactMap(\.stringValue) ?? []
        var described: [String: Described] = [:]
        for (key, schema) in try #require(schema["properties"]?.objectValue) {
            described[key] = Described(kind: schema["type"]?.stringValue, isRequired: required.contains(key))
        }
        let method = try #require(AgentMethods.named(name))
        try Self.compare(described, name, chosen: [:], Self.readResult(of: method))
    }

    private static func readResult<Method: AgentMethod>(of _: Method.Type) -> Read {
        { members throws(AgentError) in try Method.Result(.object(members)).json }
    }

    // MARK: One decoder

    private struct Described {
        /// `nil`: any type.
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

    /// - Parameter chosen: a member that is needed only if the other one of a pair is missing.
    private static func compare(
        _ described: [String: Described], _ what: String, chosen: JSONObject, _ read: Read
    ) throws {
        let required = try required(read, beside: chosen)
        #expect(
            Set(described.filter(\.value.isRequired).keys) == Set(required.keys).subtracting(chosen.keys),
            "required by \(what)")
        let words = try words()
        #expect(words.count > 300)
        let base = try read(required)
        let found = words.union(described.keys).filter { name in
            required[name] != nil || Self.reads(name, read, required, base)
        }
        #expect(Set(described.keys) == found, "\(what)")
        for (name, member) in described {
            let kinds = values.filter { _, values in
                values.contains { value in
                    var members = required
                    members[name] = value
                    // Even without what excludes it.
                    let others = chosen.keys.filter { $0 != name }
                    let groups = others.reduce(into: [[]]) { groups, key in groups += groups.map { $0 + [key] } }
                    return groups.contains { group in
                        var rest = members
                        for key in group { rest[key] = nil }
                        return (try? read(rest)) != nil
                    }
                }
            }.map(\.kind)
            #expect(kinds == member.kinds, "\(what) \(name)")
        }
    }

    /// The required members, found from the decoder's errors.
    private static func required(_ read: Read, beside chosen: JSONObject) throws -> JSONObject {
        var members = chosen
        while let error = refusal(read, members) {
            let name = try #require(
                error.message.firstMatch(of: /([a-z_0-9]+): expected .*found nothing\./)?.1, "\(error)")
            let key = String(name)
            let outcomes = values.flatMap(\.values).map { value in
                var more = members
                more[key] = value
                return (value: value, next: refusal(read, more)?.message)
            }
            // With a valid value there is no error, or the next one is about another missing member.
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

    /// Whether it reads a member of that name: it refuses a wrong type, or keeps the value.
    private static func reads(_ name: String, _ read: Read, _ required: JSONObject, _ base: JSON) -> Bool {
        var members = required
        members[name] = probe
        do throws(AgentError) {
            return try read(members) != base
        } catch {
            // A strict method reports unknown names in another way.
            return error.message.contains("\(name): expected ")
        }
    }

    private static func method(_ name: String) throws -> JSON {
        try #require(Discovery.document.methods.first { $0["name"]?.stringValue == name })
    }

    /// Every word of the protocol's page: member names are among them.
    private static func words() throws -> Set<String> {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        let page = try String(contentsOf: folder.appendingPathComponent("Docs/protocol.md"), encoding: .utf8)
        return Set(page.matches(of: /[a-z][a-z_0-9]+/).map { String($0.output) })
    }
}
