package import AuthWire

/// The machine's network as the system tells it; nobody outside is asked for it.
package protocol NetworkWatch: Sendable {
    /// The present reading first, then each that differs. They are settled: at most one a second.
    func readings() -> AsyncStream<NetworkReading>
}

/// What the kernel has and the desktop's own monitor says.
package struct NetworkReading: Sendable, Equatable {
    /// Where packets can go, as the kernel stands now.
    package enum Reach: Sendable, Equatable {
        /// No link that works leads out of this machine.
        case offline
        /// A link works and has an address, but none carries a default route.
        case linkLocal
        /// A default route leads over a link that works.
        case internet
    }

    package var reach: Reach
    /// The word of a monitor that checks by itself; ``NetworkState/online`` where there is none.
    package var monitor: NetworkState
    /// Differs when the routes or addresses are others than before: earlier connections may be dead.
    package var generation: Int
    /// Differs when no address of before is left: earlier connections are dead.
    package var move: Int

    package init(reach: Reach, monitor: NetworkState = .online, generation: Int = 0, move: Int = 0) {
        self.reach = reach
        self.monitor = monitor
        self.generation = generation
        self.move = move
    }
}
