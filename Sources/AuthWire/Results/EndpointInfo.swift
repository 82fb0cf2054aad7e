/// A call of a provider's API that its profile names, as `provider.show` tells it.
public struct EndpointInfo: Sendable, Equatable {
    public var name: String
    /// For people.
    public var about: String?
    public var method: String
    /// As the profile has it, with `{places}`.
    public var path: String
    /// In the order in which the profile names them.
    public var args: [ArgumentInfo]
    /// Whether it answers page by page.
    public var paged: Bool

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

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        about = try members.optional("about", .string)
        method = try members.required("method", .string)
        path = try members.required("path", .string)
        args = try members.list("args", ArgumentInfo.init) ?? []
        paged = try members.optional("paged", .bool) ?? false
    }

    public var json: JSON {
        var object: JSONObject = ["name": .string(name)]
        object["about"] = about.map(JSON.string)
        object["method"] = .string(method)
        object["path"] = .string(path)
        object["args"] = .array(args.map(\.json))
        if paged { object["paged"] = true }
        return .object(object)
    }
}

/// One argument of an endpoint.
public struct ArgumentInfo: Sendable, Equatable {
    public var name: String
    public var type: ArgumentType
    public var optional: Bool
    /// Not to be shown, nor to be given where other programs can read it.
    public var secret: Bool
    /// For people.
    public var about: String?

    public init(
        name: String, type: ArgumentType = .text, optional: Bool = false, secret: Bool = false, about: String? = nil
    ) {
        self.name = name
        self.type = type
        self.optional = optional
        self.secret = secret
        self.about = about
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        type = try members.required("type", .word)
        optional = try members.optional("optional", .bool) ?? false
        secret = try members.optional("secret", .bool) ?? false
        about = try members.optional("about", .string)
    }

    public var json: JSON {
        var object: JSONObject = [
            "name": .string(name), "type": .string(type.rawValue), "optional": .bool(optional),
            "secret": .bool(secret),
        ]
        object["about"] = about.map(JSON.string)
        return .object(object)
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
