/// A notice to the user, in an event of ``Topic/notice``.
public struct NoticeInfo: WireObject {
    /// `sign_in_required`, `keyring_locked` or `stale`.
    public var reason = ""
    public var title = ""
    public var message = ""
    /// A command that helps, if there is one.
    public var command: String?

    public init(blank: Blank) {}
    public init(reason: String, title: String, message: String, command: String? = nil) {
        self.reason = reason
        self.title = title
        self.message = message
        self.command = command
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("reason", &reason, .string)
        try visitor.required("title", &title, .string)
        try visitor.required("message", &message, .string)
        try visitor.optional("command", &command, .string)
    }
}
