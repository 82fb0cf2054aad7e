public struct OutboxListGet: MethodWithParams {
    public typealias Result = OutboxList
    public static let info = MethodInfo("outbox.list", .status, "Lists the writes that wait.")
    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}

public struct OutboxFlush: MethodWithParams {
    public typealias Result = OutboxList
    public static let info = MethodInfo("outbox.flush", .act, "Sends them now.")
    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}

public struct OutboxDrop: MethodWithParams {
    public typealias Result = OutboxList
    public static let info = MethodInfo("outbox.drop", .act, "Drops them.")
    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}
