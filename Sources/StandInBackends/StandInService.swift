import Glibc
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Runs the stand-ins as a program's service. The port file exists while they run.
package struct StandInService: Service {
    private let standIns: StandIns
    private let portFile: PortFile?
    private let untilInputCloses: Bool

    /// - Parameters:
    ///   - portFile: the file for the addresses; `nil` prints them.
    ///   - untilInputCloses: whether to end with standard input, which the parent holds open.
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
        // The reader of a pipe waits for the lines.
        fflush(nil)
    }

    /// Reads standard input to its end and ignores the content.
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
