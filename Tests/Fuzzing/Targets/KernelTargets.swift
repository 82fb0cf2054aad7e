import NIOCore

@testable import AuthDaemon
@testable import AuthNetwork
@testable import AuthSockets

extension FuzzTarget {
    /// Files of `/proc` about another process, which chooses its name, its control group and its file systems.
    static let proc = FuzzTarget("proc") { bytes throws(Violation) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let terminal = ProcessStatus(text)?.terminal {
            try require(
                terminal.utf8.allSatisfy { (0x2F...0x7A).contains($0) }, "the terminal '\(terminal)' is accepted")
        }
        if let group = ControlGroup(text) { try check(group) }
        if let count = ProcText.processNamespaces(inText: text) { try require(count > 0, "\(count) namespaces") }
        _ = ProcText.number(inText: text)
        let label = ProcText.label(inBytes: bytes)
        try require(!label.utf8.contains { $0 == 0 || $0 == 0x0A }, "a label of several lines")
        try checkSandbox(text, label)
        let mounts = MountTable.mounts(in: text + "\n7 1 0:5 / /a rw - fuse a rw,user_id=1\n")
        try require(mounts[7]?.source == .user, "what a user serves counts as another source")
        try checkTable(bytes)
    }

    private static func check(_ group: ControlGroup) throws(Violation) {
        for name in [group.unit, group.slice, group.loginSession].compactMap(\.self) {
            try require((1...255).contains(name.utf8.count), "a name of \(name.utf8.count) bytes is accepted")
            try require(
                name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }, "'\(name)' is accepted")
        }
        if let slice = group.slice { try require(slice.hasSuffix(".slice"), "the slice '\(slice)' is accepted") }
    }

    /// What is unknown is never outside of a sandbox.
    private static func checkSandbox(_ text: String, _ label: String) throws(Violation) {
        var own = ProcessFacts()
        (own.processNamespaces, own.userMap) = (1, "         0          0 4294967295\n")
        own.userNamespace = ProcessFacts.initialUserNamespace
        var other = ProcessFacts()
        other.label = label
        other.processNamespaces = ProcText.processNamespaces(inText: text)
        if other.processNamespaces == nil {
            try require(other.sandbox(comparedWith: own) != nil, "unknown, and not confined")
        }
        other.processNamespaces = 1
        other.userMap = text
        if other.sandbox(comparedWith: own) == nil { try require(text == own.userMap, "another map is not confined") }
    }

    /// `/proc/net/tcp`.
    private static func checkTable(_ bytes: [UInt8]) throws(Violation) {
        guard let one = try? SocketAddress(ipAddress: "127.0.0.1", port: 8080),
            let other = try? SocketAddress(ipAddress: "127.0.0.1", port: 40_000),
            let pair = SocketPair(source: other, destination: one)
        else { throw Violation("the addresses could not be made") }
        let user = SocketTable.userID(of: pair, in: bytes)
        if user != nil {
            try require(
                bytes.firstRange(of: Array("0100007F:9C40".utf8)) != nil, "the owner of another socket is returned")
        }
    }

    /// Datagrams of the kernel's routing socket.
    static let netlink = FuzzTarget("netlink", longest: 2048) { bytes throws(Violation) in
        let messages = NetlinkMessage.list(in: bytes[...])
        try require(
            messages.reduce(0) { $0 + 16 + $1.body.count } <= bytes.count, "messages are longer than the datagram")
        var snapshot = KernelSnapshot()
        for message in messages { snapshot.add(message) }
        try require(snapshot.workingDefaultRoutes.isSubset(of: snapshot.defaultRoutes), "a route from nowhere")
        try require(snapshot.ownAddresses.isSubset(of: snapshot.addresses), "an address from nowhere")
        try require(snapshot.links.count <= messages.count, "more links than messages")
        // The result does not depend on where the bytes are in memory.
        let shifted = ([0] + bytes).dropFirst()
        var again = KernelSnapshot()
        for message in NetlinkMessage.list(in: shifted) { again.add(message) }
        try require(again == snapshot, "the result depends on the place of the bytes")
    }
}
