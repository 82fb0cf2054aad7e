import AuthWire

/// The result of `rpc.discover`: an OpenRPC 1.3 document of all methods.
enum Discovery {
    static let document = OpenRPCDocument(
        openrpc: "1.3.2",
        info: [
            "title": "authd: the user's sessions", "version": .string(Release.version),
            "description": "JSON-RPC 2.0 on a Unix socket, one message per line; params are objects.",
        ],
        methods: AgentMethods.all.map { describe($0) })

    /// Rendered once: a batch may request it a hundred times.
    static let text = document.json.serialized()

    private static func describe<Method: AgentMethod>(_: Method.Type) -> JSON {
        [
            "name": .string(Method.name), "summary": .string(Method.summary), "paramStructure": "by-name",
            "x-access": .string(Method.access.rawValue),
            "params": .array(
                Method.memberList.map { member in
                    [
                        "name": .string(member.name), "required": .bool(member.isRequired),
                        "schema": schema(of: member),
                    ]
                }),
            "result": ["name": .string(Method.resultName), "schema": schema(of: Method.Result.memberList)],
        ]
    }

    private static func schema(of members: [MemberDescription]) -> JSON {
        var properties = JSONObject()
        for member in members { properties[member.name] = schema(of: member) }
        return [
            "type": "object", "properties": .object(properties),
            "required": .array(members.filter(\.isRequired).map { .string($0.name) }),
        ]
    }

    private static func schema(of member: MemberDescription) -> JSON {
        member.type == .any ? [:] : ["type": .string(member.type.rawValue)]
    }
}
