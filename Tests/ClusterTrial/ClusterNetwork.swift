import Foundation
import TestSupport

/// Hosts in separate network namespaces, joined by a bridge in the namespace of this process, which is its alone.
///
///     host 10.18.0.1 …, member 10.18.0.11 …  ── bridge ──  provider 10.18.0.254, in this process
final class ClusterNetwork: Sendable {
    /// A namespace, which its holder keeps.
    struct Place: Sendable {
        let address: String
        fileprivate let holder: Child

        /// A command that runs another one there.
        var through: [String] { ["nsenter", "-t", "\(holder.pid)", "-n", "--"] }
    }

    static let provider = "10.18.0.254"
    let hosts: [Place]
    let members: [Place]

    init(hosts: Int, members: Int) async throws {
        try await Self.run(
            """
            ip link set lo up && ip link add bridge type bridge && ip link set bridge up && \
            ip addr add \(Self.provider)/24 dev bridge
            """)
        var places: [Place] = []
        for (count, first) in [(hosts, 1), (members, 11)] {
            for number in first..<first + count { places.append(try await Self.place("10.18.0.\(number)")) }
        }
        self.hosts = Array(places.prefix(hosts))
        self.members = Array(places.dropFirst(hosts))
    }

    private static func place(_ address: String) async throws -> Place {
        let holder = try await Child(
            ["unshare", "-n", "sh", "-c", "echo ready && exec sleep infinity"], environment: environment)
        guard await holder.out.wait(for: "ready") else { throw Failure("no namespace: \(await holder.err.all())") }
        let place = Place(address: address, holder: holder)
        let port = "port" + (address.split(separator: ".").last ?? "")
        try await run(
            """
            ip link add \(port) type veth peer name eth0 netns \(holder.pid) && ip link set \(port) master bridge && \
            ip link set \(port) up
            """)
        // authd takes a host without a default route for one without a network.
        try await run(
            """
            ip link set lo up && ip addr add \(address)/24 dev eth0 && ip link set eth0 up && \
            ip route add default via \(provider)
            """, through: place.through)
        return place
    }

    /// Every packet between two addresses is lost.
    func cut(_ address: String, from others: [String]) async throws {
        let set = "{ \(others.joined(separator: ", ")) }"
        let rules = "ip saddr \(address) ip daddr \(set) drop; ip saddr \(set) ip daddr \(address) drop;"
        let chains = ["forward", "input", "output"].map { hook in
            "add chain bridge cut \(hook) { type filter hook \(hook) priority 0; }\n"
                + rules.split(separator: ";").map { "add rule bridge cut \(hook) \($0)\n" }.joined()
        }
        try await Self.run("nft -f -", input: "add table bridge cut\n" + chains.joined())
    }

    func joinAgain() async throws { try await Self.run("nft delete table bridge cut") }

    func end() async {
        for place in hosts + members { await place.holder.end(SIGKILL) }
    }

    private static var environment: [String: String] {
        ["PATH": (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"]
    }

    private static func run(_ command: String, through: [String] = [], input: String? = nil) async throws {
        let output = try await Child(
            through + ["sh", "-c", command], environment: environment, input: input.map { .text($0) } ?? .none
        ).output()
        guard output.status == 0 else { throw Failure("\(command): \(output.err)") }
    }
}
