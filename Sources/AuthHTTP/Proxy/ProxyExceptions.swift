import AuthModel

/// Hosts that need no proxy: `no_proxy` as curl and Go read it.
///
/// An entry is a name (which includes its subdomains; a leading dot or `*.` makes no difference), an address, a network in CIDR
/// form, a name or an address with `:port`, or `*` for all hosts. Loopback addresses are always exceptions.
struct ProxyExceptions: Sendable {
    private enum Rule: Sendable {
        case everything
        case name(String, port: Int?)
        case network(IPAddress, bits: Int, port: Int?)
    }

    private let rules: [Rule]

    /// An entry may be a list, separated by commas or spaces. An invalid entry matches nothing.
    init(_ entries: [String]) {
        rules = entries.flatMap { $0.split { $0 == "," || $0.isWhitespace } }.compactMap(Self.rule)
    }

    func cover(_ origin: Origin) -> Bool {
        let address = IPAddress(origin.host)
        if origin.host == "localhost" || origin.host.hasSuffix(".localhost") || address?.isLoopback == true {
            return true
        }
        return rules.contains { rule in
            switch rule {
            case .everything: true
            case .name(let name, let port):
                (port ?? origin.port) == origin.port && address == nil
                    && (origin.host == name || origin.host.hasSuffix("." + name))
            case .network(let network, let bits, let port):
                (port ?? origin.port) == origin.port && address?.matches(network, bits: bits) == true
            }
        }
    }

    private static func rule(_ entry: Substring) -> Rule? {
        if entry == "*" { return .everything }
        var name = entry.lowercased()
        var port: Int?
        if IPAddress(name) == nil, let colon = name.lastIndex(of: ":"),
            let number = Int(name[name.index(after: colon)...])
        {
            port = number
            name = String(name[..<colon])
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if let address = IPAddress(name) { return .network(address, bits: address.bytes.count * 8, port: port) }
        if let slash = name.firstIndex(of: "/"), let address = IPAddress(String(name[..<slash])),
            let bits = Int(name[name.index(after: slash)...])
        {
            return .network(address, bits: bits, port: port)
        }
        if name.hasPrefix("*") { name.removeFirst() }
        while name.hasPrefix(".") { name.removeFirst() }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : .name(name, port: port)
    }
}
