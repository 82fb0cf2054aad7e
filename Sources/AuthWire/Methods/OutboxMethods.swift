/// `outbox.list`.
public struct OutboxListGet: MethodWithParams {
    public typealias Result = OutboxList
    public static let name = "outbox.list"
    public static let summary = "Lists the writes that wait."
    public static let access = AccessClass.status

    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}

/// `outbox.flush`.
public struct OutboxFlush: MethodWithParams {
    public typealias Result = OutboxList
    public static let name = "outbox.flush"
    public static let summary = "Sends them now."
    public static let access = AccessClass.act

    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}

/// `outbox.drop`.
public struct OutboxDrop: MethodWithParams {
    public typealias Result = OutboxList
    public static let name = "outbox.drop"
    public static let summary = "Drops them."
    public static let access = AccessClass.act

    public var params: OutboxParams
    public init(_ params: OutboxParams) { self.params = params }
}
