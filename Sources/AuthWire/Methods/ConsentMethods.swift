/// `consent.list`.
public struct ConsentListGet: MethodWithoutParams {
    public typealias Result = ConsentList
    public static let info = MethodInfo(
        "consent.list", .account, "Lists the questions about programs that wait for the user's answer.")
    public init() {}
}

/// `consent.answer`.
public struct ConsentAnswerCall: AgentMethod {
    public typealias Result = Nothing
    public static let info = MethodInfo(
        "consent.answer", .account, "Answers a question about a program, from a terminal of a login session.")

    /// Its number.
    public var question = 0
    public var allowed = false
    /// How long an allowance counts; `nil`: for the requests that wait.
    public var minutes: Int?

    public init(blank: Blank) {}
    public init(question: Int, allowed: Bool, minutes: Int? = nil) {
        (self.question, self.allowed, self.minutes) = (question, allowed, minutes)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("question", &question, .count)
        try visitor.required("allowed", &allowed, .bool)
        try visitor.optional("minutes", &minutes, .count)
    }
}
