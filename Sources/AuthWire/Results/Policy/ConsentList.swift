/// The result of `consent.list`.
public struct ConsentList: WireObject {
    /// At most one is asked at a time.
    public var questions: [ConsentItem] = []

    public init(blank: Blank) {}
    public init(questions: [ConsentItem]) { self.questions = questions }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("questions", &questions, .list())
    }
}

/// A question about a program.
public struct ConsentItem: WireObject {
    public var number = 0
    /// When it was asked.
    public var at: Double = 0
    /// When it counts as refused.
    public var endsAt: Double = 0
    public var method = ""
    public var session: SessionName?
    public var listener = ""
    /// What the program says.
    public var purpose: String?
    public var pid: Int?
    public var exe: String?
    /// `true`: another program may be at that path.
    public var exeUncertain: Bool?
    public var unit: String?
    /// The text as it is shown, without characters that could mislead its reader.
    public var lines: [String] = []

    public init(blank: Blank) {}
    public init(number: Int, at: Double, endsAt: Double, method: String, listener: String, lines: [String]) {
        (self.number, self.at, self.endsAt) = (number, at, endsAt)
        (self.method, self.listener, self.lines) = (method, listener, lines)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("question", &number, .count)
        try visitor.required("at", &at, .instant)
        try visitor.required("ends_at", &endsAt, .instant)
        try visitor.required("method", &method, .string)
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("listener", &listener, .string)
        try visitor.optional("purpose", &purpose, .string)
        try visitor.optional("pid", &pid, .count)
        try visitor.optional("exe", &exe, .string)
        try visitor.optional("exe_uncertain", &exeUncertain, .bool)
        try visitor.optional("unit", &unit, .string)
        try visitor.required("lines", &lines, .strings)
    }
}
