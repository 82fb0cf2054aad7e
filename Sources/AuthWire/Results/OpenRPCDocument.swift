/// The result of `rpc.discover`: an OpenRPC 1.3 document.
public struct OpenRPCDocument: WireObject {
    /// The version of OpenRPC.
    public var openrpc = ""
    public var info = JSONObject()
    public var methods: [JSON] = []

    public init(blank: Blank) {}
    public init(openrpc: String, info: JSONObject, methods: [JSON]) {
        self.openrpc = openrpc
        self.info = info
        self.methods = methods
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("openrpc", &openrpc, .string)
        try visitor.required("info", &info, .object)
        try visitor.required("methods", &methods, .array)
    }
}
