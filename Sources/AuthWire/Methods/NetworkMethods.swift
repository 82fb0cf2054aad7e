public struct NetworkStatusGet: MethodWithoutParams {
    public typealias Result = NetworkStatus
    public static let info = MethodInfo("network.status", .status, "How far the network reaches.")
    public init() {}
}
