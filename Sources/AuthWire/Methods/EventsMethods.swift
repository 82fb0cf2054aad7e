/// `events.subscribe`.
public struct EventsSubscribe: MethodWithParams {
    public typealias Result = Nothing
    public static let name = "events.subscribe"
    public static let summary = "Sends an `event` notification at every change, and a snapshot first."
    public static let access = AccessClass.status

    public var params: SubscribeParams
    public init(_ params: SubscribeParams) { self.params = params }
}

/// `events.unsubscribe`.
public struct EventsUnsubscribe: MethodWithParams {
    public typealias Result = Nothing
    public static let name = "events.unsubscribe"
    public static let summary = "Ends a subscription."
    public static let access = AccessClass.status

    public var params: SubscribeParams
    public init(_ params: SubscribeParams) { self.params = params }
}
