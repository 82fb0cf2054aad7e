public struct EventsSubscribe: MethodWithParams {
    public typealias Result = Nothing
    public static let info = MethodInfo(
        "events.subscribe", .status, "Sends an `event` notification at every change, and a snapshot first.")
    public var params: SubscribeParams
    public init(_ params: SubscribeParams) { self.params = params }
}

public struct EventsUnsubscribe: MethodWithParams {
    public typealias Result = Nothing
    public static let info = MethodInfo("events.unsubscribe", .status, "Ends a subscription.")
    public var params: SubscribeParams
    public init(_ params: SubscribeParams) { self.params = params }
}
