/// What is wrong in a profile or settings file, and where.
public struct ProfileProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public var file: String
    /// From 1; 0 when it is about the file as a whole.
    public var line: Int
    /// With its table: `renewal.kind`.
    public var key: String
    public var expected: String
    public var found: String?

    public init(file: String, line: Int, key: String, expected: String, found: String? = nil) {
        self.file = file
        self.line = line
        self.key = key
        self.expected = expected
        self.found = found
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        file = try members.required("file", .string)
        line = try members.required("line", .integer)
        key = try members.required("key", .string)
        expected = try members.required("expected", .string)
        found = try members.optional("found", .string)
    }

    public var json: JSON {
        var object: JSONObject = [
            "file": .string(file), "line": .whole(line), "key": .string(key), "expected": .string(expected),
        ]
        object["found"] = found.map(JSON.string)
        return .object(object)
    }

    /// On one line, with every character visible: a key or a file's name may hold any.
    public var description: String {
        let place = line > 0 ? "\(file):\(line)" : file
        let subject = key.isEmpty ? "" : " \(key):"
        return VisibleText.line("\(place):\(subject) expected \(expected)" + (found.map { ", found \($0)" } ?? ""))
    }
}

/// Of `provider.check`; no problems: the profile is fine.
public struct ProviderCheck: Sendable, Equatable {
    public var problems: [ProfileProblem]

    public init(problems: [ProfileProblem]) {
        self.problems = problems
    }

    public init(_ json: JSON) throws(AgentError) {
        problems = try Members(result: json).list("problems", ProfileProblem.init) ?? []
    }

    public var json: JSON { ["problems": .array(problems.map(\.json))] }
}
