import Glibc
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The stand-ins as a program's service: the port file is there exactly while they run.
package struct StandInService: Service {
    private let standIns: StandIns
    private let portFile: PortFile?
    private let untilInputCloses: Bool

    /// - Parameters:
    ///   - portFile: where the addresses are told; `nil` is standard output.
    ///   - untilInputCloses: also end when standard input ends, that is when the parent is gone.
    package init(_ standIns: StandIns, portFile: PortFile?, untilInputCloses: Bool = false) {
        self.standIns = standIns
        self.portFile = portFile
        self.untilInputCloses = untilInputCloses
    }

    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await serve()
        }
    }

    private func serve() async throws {
        defer { portFile?.remove() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await standIns.run()
                return true
            }
            group.addTask {
                try await standIns.waitUntilListening()
                try publishAddresses()
                return false
            }
            if untilInputCloses {
                group.addTask {
                    try await Self.inputEnd()
                    return true
                }
            }
            defer { group.cancelAll() }
            do {
                while let isOver = try await group.next(), !isOver {}
            } catch is CancellationError {
            }
        }
    }

    private func publishAddresses() throws {
        if let portFile { return try portFile.write(standIns.addresses) }
        for (name, url) in standIns.addresses.sorted(by: { $0.key < $1.key }) { print(name, url) }
        // A reader at the other end of a pipe waits for the lines.
        fflush(nil)
    }

    /// Returns when standard input ends. What comes in on it is read and forgotten.
    private static func inputEnd() async throws {
        guard StandardInput.canBeWatched else { return }
        let input = try await NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .takingOwnershipOfDescriptor(input: dup(0)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        try await input.executeThenClose { inbound in
            for try await _ in inbound {}
        }
    }
}
