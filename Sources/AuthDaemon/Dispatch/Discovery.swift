import AuthWire

/// The answer to `rpc.discover`: an OpenRPC 1.3 document of every method.
enum Discovery {
    static let document: JSON = [
        "openrpc": "1.3.2",
        "info": [
            "title": "authd, a person's signed-in sessions", "version": .string(Release.version),
            "description": "One JSON-RPC 2.0 message a line on a Unix socket; params go by name.",
        ],
        "methods": .array(MethodName.allCases.map(method)),
    ]

    /// Rendered once: a batch may ask for it a hundred times.
    static let text = document.serialized()

    private static func method(_ name: MethodName) -> JSON {
        let about = name.about
        return [
            "name": .string(name.rawValue), "summary": .string(about.summary), "paramStructure": "by-name",
            "params": .array(about.params.map(param)),
            "result": ["name": .string(about.result), "schema": schema(ofResult: about.result)],
        ]
    }

    private static func schema(ofResult name: String) -> JSON {
        let members = ResultAbout.members[name] ?? []
        var properties = JSONObject()
        for member in members { properties[member.name] = schema(of: member) }
        return [
            "type": "object", "properties": .object(properties),
            "required": .array(members.filter(\.required).map { .string($0.name) }),
        ]
    }

    private static func schema(of param: MethodAbout.Param) -> JSON {
        param.type == .any ? [:] : ["type": .string(param.type.rawValue)]
    }

    private static func param(_ param: MethodAbout.Param) -> JSON {
        [
            "name": .string(param.name), "required": .bool(param.required),
            "schema": schema(of: param),
        ]
    }
}

/// What a method is for, what it takes and what it gives.
struct MethodAbout {
    /// JSON Schema's names.
    enum Kind: String {
        case string, integer, number, boolean, object, array
        /// Any value: a schema without a type.
        case any
    }

    struct Param {
        let name: String
        let type: Kind
        let required: Bool

        static func needs(_ name: String, _ type: Kind = .string) -> Param {
            Param(name: name, type: type, required: true)
        }

        static func takes(_ name: String, _ type: Kind = .string) -> Param {
            Param(name: name, type: type, required: false)
        }
    }

    let summary: String
    let params: [Param]
    /// The name of what comes back, as Docs/protocol.md has it.
    let result: String

    init(_ summary: String, _ params: [Param] = [], gives result: String) {
        self.summary = summary
        self.params = params
        self.result = result
    }
}
