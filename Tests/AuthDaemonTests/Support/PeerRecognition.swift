import AuthDaemon

/// How an agent recognizes the process that has connected. Before Linux 6.5 there is no SO_PEERPIDFD.
enum PeerRecognition: CaseIterable {
    /// It watches the pidfd that the kernel has for the connection.
    case peerDescriptor
    /// The kernel is asked for it with each message, as for more processes than are watched.
    case peerDescriptorPerMessage
    /// It watches the pidfd of the process that has its number.
    case number
    /// The start time of the process that has its number is compared with each message.
    case startTime

    /// Those that notice the end of the process.
    static let watching = [peerDescriptor, number]

    var hasPeerDescriptors: Bool { self == .peerDescriptor || self == .peerDescriptorPerMessage }

    /// The same limits, with as many watched processes as this takes.
    func applied(to limits: ConnectionLimits) -> ConnectionLimits {
        var limits = limits
        if !Self.watching.contains(self) { limits.watchedProcesses = 0 }
        return limits
    }
}
