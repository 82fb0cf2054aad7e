import Foundation
import Subprocess
import Testing

/// The watch in a separate network namespace, whose links and routes change.
@Suite("The network watch", .timeLimit(.minutes(1)))
struct SystemNetworkWatchTests {
    @Test("reports the initial state, and each change of the default route")
    func followsDefaultRoute() async throws {
        try await withNamespace { namespace in
            #expect(try await namespace.next()?.reach == "offline")
            try await namespace.run("ip route add default dev lo")
            #expect(try await namespace.next()?.reach == "internet")
            try await namespace.run("ip route del default dev lo")
            #expect(try await namespace.next()?.reach == "offline")
        }
    }

    @Test("reports a machine with a route as online, first of all")
    func beginsOnline() async throws {
        try await withNamespace(before: "ip route add default dev lo") { namespace in
            let first = try await namespace.next()
            #expect(first?.reach == "internet" && first?.monitor == "online")
        }
    }

    @Test("does not report a route that disappears and returns at once")
    func settles() async throws {
        try await withNamespace(before: "ip route add default dev lo") { namespace in
            #expect(try await namespace.next()?.reach == "internet")
            try await namespace.run("ip route del default dev lo; ip route add default dev lo")
            // Long after the settling time, the first reading is that of a lasting change.
            try await namespace.run("ip route add 192.0.2.0/24 dev lo; ip route del default dev lo")
            #expect(try await namespace.next()?.reach == "offline")
        }
    }

    @Test("a link without carrier leads nowhere, even with its default route")
    func carrierLost() async throws {
        try await withNamespace(before: Self.cable) { namespace in
            #expect(try await namespace.next()?.reach == "internet")
            try await namespace.run("ip link set far down")
            let lost = try await namespace.next()
            #expect(lost?.reach == "offline")
            try await namespace.run("ip route show default | grep -q near && ip link set far up")
            let back = try await namespace.next()
            #expect(back?.reach == "internet")
            // The same addresses as before: requests in flight may still be answered.
            #expect(back?.move == 0 && lost?.move == 0)
        }
    }

    @Test("a link that was set down and up without its route is link-local only")
    func linkDownAndUp() async throws {
        try await withNamespace(before: Self.cable) { namespace in
            #expect(try await namespace.next()?.reach == "internet")
            try await namespace.run("ip link set near down")
            #expect(try await namespace.next()?.reach == "offline")
            try await namespace.run("ip link set near up")
            #expect(try await namespace.next()?.reach == "linkLocal")
            try await namespace.run("ip route add default via 10.1.0.2")
            #expect(try await namespace.next()?.reach == "internet")
        }
    }

    @Test("another gateway is another generation, and another address is a move, too")
    func addressChanges() async throws {
        try await withNamespace(before: Self.cable) { namespace in
            let first = try #require(try await namespace.next())
            try await namespace.run("ip route replace default via 10.1.0.3")
            let second = try #require(try await namespace.next())
            #expect(second.generation > first.generation && second.move == first.move)
            try await namespace.run(
                "ip addr flush dev near; ip addr add 10.2.0.1/24 dev near; ip route add default via 10.2.0.2")
            let third = try #require(try await namespace.next())
            #expect(third.generation > second.generation && third.move > second.move)
            #expect(third.reach == "internet")
        }
    }

    @Test("containers that start and stop are not a change of network")
    func containers() async throws {
        try await withNamespace(before: Self.cable) { namespace in
            let first = try await namespace.next()
            try await namespace.run(
                "ip link add box type veth peer name lid; ip addr add 172.17.0.1/16 dev box; ip link set box up; "
                    + "ip link set lid up; sleep 1.2; ip link set far down")
            let next = try await namespace.next()
            #expect(first?.reach == "internet")
            // The first reading is about the cable; the container's bridge remains.
            #expect(next?.reach == "linkLocal")
        }
    }

    /// A veth pair; one end has an address and the default route.
    private static let cable = """
        ip link add near type veth peer name far && ip link set near up && ip link set far up &&
        ip addr add 10.1.0.1/24 dev near && ip route add default via 10.1.0.2
        """

    /// A shell in the namespace runs the probe as its child and executes one line of input at a time; it ends both when its
    /// input ends. Root needs only a network namespace; other users also create a user namespace.
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
        // The machine's NetworkManager must not answer for the namespace.
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

    /// The next reading of the probe; `nil` when it has ended.
    func next() async throws -> Reading? {
        var lines = lines
        defer { self.lines = lines }
        return try await lines.next(isolation: self).map(Reading.init)
    }
}

private struct Reading {
    let reach: String
    let monitor: String
    let generation: Int
    let move: Int

    init(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        reach = words.first ?? ""
        monitor = words.dropFirst().first ?? ""
        generation = words.dropFirst(2).first.flatMap { Int($0) } ?? -1
        move = words.dropFirst(3).first.flatMap { Int($0) } ?? -1
    }
}
