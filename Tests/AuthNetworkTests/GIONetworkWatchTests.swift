import Foundation
import Subprocess
import Testing

/// The watch in a network namespace of its own, whose default route comes and goes.
@Suite("The network watch", .timeLimit(.minutes(1)))
struct GIONetworkWatchTests {
    @Test("tells the state it finds, and each change of the default route")
    func followsDefaultRoute() async throws {
        try await withNamespace { namespace in
            #expect(try await namespace.nextState() == "offline")
            try await namespace.run("ip route add default dev lo")
            #expect(try await namespace.nextState() == "online")
            try await namespace.run("ip route del default dev lo")
            #expect(try await namespace.nextState() == "offline")
        }
    }

    @Test("tells a machine with a route that it is online, first of all")
    func beginsOnline() async throws {
        try await withNamespace(before: "ip route add default dev lo") { namespace in
            let first = try await namespace.nextState()
            #expect(first == "online")
        }
    }

    @Test("tells nothing of a route that goes and comes back at once")
    func settles() async throws {
        try await withNamespace(before: "ip route add default dev lo") { namespace in
            #expect(try await namespace.nextState() == "online")
            try await namespace.run("ip route del default dev lo; ip route add default dev lo")
            // Long after the settling time the first news is the one of a lasting change.
            try await namespace.run("ip route add 192.0.2.0/24 dev lo; ip route del default dev lo")
            #expect(try await namespace.nextState() == "offline")
        }
    }

    /// A shell in the namespace holds the probe as its child and runs a line of its input at a time; it ends both when
    /// its input ends. Root makes a network namespace alone; anybody else makes a user namespace with it.
    private func withNamespace(
        before: String = "true", _ body: sending (Namespace) async throws -> Void
    ) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let probe = URL(filePath: program).deletingLastPathComponent().appending(path: "network-probe").path
        let script = """
            ip link set lo up && \(before) || exit 1
            setpriv --pdeathsig KILL "$1" & probe=$!
            trap 'kill -KILL $probe; wait' EXIT
            while read -r line; do eval "$line" || exit 1; done
            """
        // No NetworkManager of the machine may answer for the namespace.
        let environment = Environment.inherit.updating(["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"])
        _ = try await run(
            .name("unshare"),
            arguments: .init((getuid() == 0 ? ["-n"] : ["-Urn"]) + ["bash", "-c", script, "bash", probe]),
            environment: environment, input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            let writer = execution.standardInputWriter
            let namespace = Namespace(writer: writer, lines: execution.standardOutput.strings().makeAsyncIterator())
            do {
                try await body(namespace)
            } catch {
                try await writer.finish()
                throw error
            }
            try await writer.finish()
        }
    }
}

private actor Namespace {
    private let writer: StandardInputWriter
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator

    init(writer: StandardInputWriter, lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator) {
        self.writer = writer
        self.lines = lines
    }

    func run(_ command: String) async throws {
        _ = try await writer.write(Array((command + "\n").utf8))
    }

    /// The next state that the probe tells; `nil` when it has ended.
    func nextState() async throws -> String? {
        var lines = lines
        defer { self.lines = lines }
        return try await lines.next(isolation: self)
    }
}
