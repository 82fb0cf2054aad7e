package import AuthWire

/// The state of the machine's network as the system reports it; no remote host is asked.
package protocol NetworkWatch: Sendable {
    /// The current reading first, then each that differs, at most one a second.
    func readings() -> AsyncStream<NetworkReading>
    /// Whether the network is metered: the user pays by volume, or the volume is limited. The current value first.
    func metered() -> AsyncStream<Bool>
}

extension NetworkWatch {
    /// For a watch whose monitor does not report it.
    package func metered() -> AsyncStream<Bool> { AsyncStream { $0.finish() } }
}

/// The state of the kernel and of the desktop's network monitor.
package struct NetworkReading: Sendable, Equatable {
    /// Where packets can go, according to the kernel.
    package enum Reach: Sendable, Equatable {
        /// No working link leads out of this machine.
        case offline
        /// A working link has an address, but there is no default route.
        case linkLocal
        /// A default route uses a working link.
        case internet
    }

    package var reach: Reach
    /// The state that a monitor reports; ``NetworkState/online`` without one.
    package var monitor: NetworkState
    /// Changes with the routes or addresses: earlier connections may be dead.
    package var generation: Int
    /// Changes when all former addresses are gone: earlier connections are dead.
    package var move: Int

    package init(reach: Reach, monitor: NetworkState = .online, generation: Int = 0, move: Int = 0) {
        self.reach = reach
        self.monitor = monitor
        self.generation = generation
        self.move = move
    }
}
