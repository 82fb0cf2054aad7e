/// An endpoint of a provider's API that its profile names.
public struct EndpointInfo: WireObject {
    public var name = ""
    /// For the user.
    public var about: String?
    public var method = ""
    /// As the profile has it, with `{places}`.
    public var path = ""
    /// In the order in which the profile names them.
    public var args: [ArgumentInfo] = []
    /// Whether it answers page by page.
    public var paged = false

    public init(blank: Blank) {}
    public init(
        name: String, about: String? = nil, method: String, path: String, args: [ArgumentInfo] = [],
        paged: Bool = false
    ) {
        self.name = name
        self.about = about
        self.method = method
        self.path = path
        self.args = args
        self.paged = paged
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.optional("about", &about, .string)
        try visitor.required("method", &method, .string)
        try visitor.required("path", &path, .string)
        try visitor.written("args", &args, .list())
        try visitor.optional("paged", &paged, .bool, default: false)
    }
}

/// One argument of an endpoint.
public struct ArgumentInfo: WireObject {
    public var name = ""
    public var type = ArgumentType.text
    public var optional = false
    /// Must not be shown, nor passed where other programs can read it.
    public var secret = false
    /// For the user.
    public var about: String?

    public init(blank: Blank) {}
    public init(
        name: String, type: ArgumentType = .text, optional: Bool = false, secret: Bool = false, about: String? = nil
    ) {
        self.name = name
        self.type = type
        self.optional = optional
        self.secret = secret
        self.about = about
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("type", &type, .word)
        try visitor.written("optional", &optional, .bool)
        try visitor.written("secret", &secret, .bool)
        try visitor.optional("about", &about, .string)
    }
}

/// What an argument of an endpoint is.
public enum ArgumentType: String, Sendable, CaseIterable {
    case text, integer, number, boolean, list, object
    /// A text in a request's path that may hold slashes, which are sent encoded. No other type may hold one there.
    case path
    /// Bytes, for a part of a multipart body.
    case file
}
