/// What is wrong in a profile or settings file, and where.
public struct ProfileProblem: Error, WireObject, CustomStringConvertible {
    public var file = ""
    /// From 1; 0 when it is about the file as a whole.
    public var line = 0
    /// With its table: `renewal.kind`.
    public var key = ""
    public var expected = ""
    public var found: String?

    public init(blank: Blank) {}
    public init(file: String, line: Int, key: String, expected: String, found: String? = nil) {
        self.file = file
        self.line = line
        self.key = key
        self.expected = expected
        self.found = found
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("file", &file, .string)
        try visitor.required("line", &line, .integer)
        try visitor.required("key", &key, .string)
        try visitor.required("expected", &expected, .string)
        try visitor.optional("found", &found, .string)
    }

    /// On one line, with every character visible: a key or a file's name may hold any.
    public var description: String {
        let place = line > 0 ? "\(file):\(line)" : file
        let subject = key.isEmpty ? "" : " \(key):"
        return VisibleText.line("\(place):\(subject) expected \(expected)" + (found.map { ", found \($0)" } ?? ""))
    }
}

/// What is valid in a profile, and weak.
public struct ProfileNote: WireObject, Equatable, CustomStringConvertible {
    public var file = ""
    /// From 1.
    public var line = 0
    public var key = ""
    public var text = ""

    public init(blank: Blank) {}
    public init(file: String, line: Int, key: String, text: String) {
        self.file = file
        self.line = line
        self.key = key
        self.text = text
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("file", &file, .string)
        try visitor.required("line", &line, .integer)
        try visitor.required("key", &key, .string)
        try visitor.required("text", &text, .string)
    }

    /// On one line, with every character visible.
    public var description: String { VisibleText.line("\(file):\(line): \(key): \(text)") }
}

/// The result of `provider.check`. Without problems the profile is valid.
public struct ProviderCheck: WireObject {
    public var problems: [ProfileProblem] = []
    public var notes: [ProfileNote] = []

    public init(blank: Blank) {}
    public init(problems: [ProfileProblem], notes: [ProfileNote] = []) {
        self.problems = problems
        self.notes = notes
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("problems", &problems, .list())
        try visitor.optional("notes", &notes, .list(), default: [])
    }
}

/// The result of `provider.try`. A profile with problems is not tried.
public struct ProviderTrial: WireObject {
    public var problems: [ProfileProblem] = []
    public var requests: [TriedRequest] = []

    public init(blank: Blank) {}
    public init(problems: [ProfileProblem], requests: [TriedRequest]) {
        self.problems = problems
        self.requests = requests
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("problems", &problems, .list())
        try visitor.written("requests", &requests, .list())
    }
}

/// How a server answered a request of a profile that had no credentials.
public struct TriedRequest: WireObject {
    /// The request's place in the profile, such as `sign_in.password.request`.
    public var request = ""
    public var method = ""
    public var url = ""
    /// `nil` if there was no response.
    public var httpStatus: Int?
    /// Whether the response is one that the profile expects without credentials.
    public var isExpected = false
    /// Whether it was not sent; the message says why.
    public var isSkipped = false
    /// What was learned, for the user.
    public var message = ""

    public init(blank: Blank) {}

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("request", &request, .string)
        try visitor.required("method", &method, .string)
        try visitor.required("url", &url, .string)
        try visitor.optional("http_status", &httpStatus, .integer)
        try visitor.required("expected", &isExpected, .bool)
        try visitor.optional("skipped", &isSkipped, .bool, default: false)
        try visitor.required("message", &message, .string)
    }
}
