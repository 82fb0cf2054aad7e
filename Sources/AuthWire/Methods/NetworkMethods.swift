/// `network.status`.
public struct NetworkStatusGet: MethodWithoutParams {
    public typealias Result = NetworkStatus
    public static let name = "network.status"
    public static let summary = "How far the network reaches."
    public static let access = AccessClass.status

    public init() {}
}
