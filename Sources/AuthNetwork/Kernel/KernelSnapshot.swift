package import AuthModel

/// The links, addresses and default routes of this network namespace, from the kernel.
package struct KernelSnapshot: Equatable {
    package struct Link: Equatable {
        var isLoopback: Bool
        /// Up, and with a carrier if the link reports one.
        var works: Bool
    }

    package struct Address: Hashable {
        var link: UInt32
        var bytes: [UInt8]
    }

    package struct Route: Hashable {
        var link: UInt32
        var gateway: [UInt8]
    }

    package private(set) var links: [UInt32: Link] = [:]
    package private(set) var addresses: Set<Address> = []
    package private(set) var defaultRoutes: Set<Route> = []

    /// From `<linux/if.h>`, `<linux/if_addr.h>` and `<linux/rtnetlink.h>`.
    private enum Number {
        static let up: UInt32 = 1
        static let loopback: UInt32 = 8
        static let running: UInt32 = 0x40
        static let scopeLink: UInt8 = 253
        static let addressTentative: UInt8 = 0x40
        static let unicast: UInt8 = 1
        static let localTable: UInt8 = 255
        static let routeIsCloned: UInt32 = 0x200
        static let hopIsDead: UInt32 = 1 | 16
        static let attributeAddress: UInt16 = 1
        static let attributeLocal: UInt16 = 2
        static let attributeOutLink: UInt16 = 4
        static let attributeGateway: UInt16 = 5
        static let attributeHops: UInt16 = 9
    }

    package init() {}

    package mutating func add(_ message: NetlinkMessage) {
        switch message.kind {
        case NetlinkMessage.Kind.newLink: addLink(message.body)
        case NetlinkMessage.Kind.newAddress: addAddress(message.body)
        case NetlinkMessage.Kind.newRoute: addRoute(message.body)
        default: break
        }
    }

    /// `struct ifinfomsg`: family, padding, type (2), index (4), flags (4), change (4).
    private mutating func addLink(_ body: ArraySlice<UInt8>) {
        guard body.count >= 16 else { return }
        let flags = body.uint32(at: 8)
        links[body.uint32(at: 4)] = Link(
            isLoopback: flags & Number.loopback != 0,
            works: flags & Number.up != 0 && flags & Number.running != 0)
    }

    /// `struct ifaddrmsg`: family, prefix length, flags, scope, index (4). Link-local and tentative addresses are left out.
    private mutating func addAddress(_ body: ArraySlice<UInt8>) {
        guard body.count >= 8 else { return }
        let (flags, scope) = (body[body.startIndex + 2], body[body.startIndex + 3])
        guard scope < Number.scopeLink, flags & Number.addressTentative == 0 else { return }
        let attributes = NetlinkAttributes(body.dropFirst(8))
        guard let bytes = attributes[Number.attributeLocal] ?? attributes[Number.attributeAddress] else { return }
        addresses.insert(Address(link: body.uint32(at: 4), bytes: Array(bytes)))
    }

    /// `struct rtmsg`: family, destination and source length, service, table, protocol, scope, type, flags (4).
    private mutating func addRoute(_ body: ArraySlice<UInt8>) {
        guard body.count >= 12 else { return }
        let start = body.startIndex
        let flags = body.uint32(at: 8)
        guard body[start + 1] == 0, body[start + 7] == Number.unicast, body[start + 4] != Number.localTable,
            flags & Number.routeIsCloned == 0, flags & Number.hopIsDead == 0
        else { return }
        let attributes = NetlinkAttributes(body.dropFirst(12))
        let gateway = Array(attributes[Number.attributeGateway] ?? [])
        if let link = attributes.integer(Number.attributeOutLink) {
            defaultRoutes.insert(Route(link: link, gateway: gateway))
        }
        for hop in hops(attributes[Number.attributeHops] ?? []) { defaultRoutes.insert(hop) }
    }

    /// `struct rtnexthop`: length (2), flags, weight, link (4), and its attributes.
    private func hops(_ bytes: ArraySlice<UInt8>) -> [Route] {
        var hops: [Route] = []
        var rest = bytes
        while rest.count >= 8 {
            let length = Int(rest.uint16(at: 0))
            guard length >= 8, length <= rest.count else { break }
            let attributes = NetlinkAttributes(rest.dropFirst(8).prefix(length - 8))
            if UInt32(rest[rest.startIndex + 2]) & Number.hopIsDead == 0 {
                hops.append(
                    Route(link: rest.uint32(at: 4), gateway: Array(attributes[Number.attributeGateway] ?? [])))
            }
            rest = rest.dropFirst(min(rest.count, (length + 3) & ~3))
        }
        return hops
    }

    // MARK: Results

    package var reach: NetworkReading.Reach {
        if !workingDefaultRoutes.isEmpty { return .internet }
        return ownAddresses.isEmpty ? .offline : .linkLocal
    }

    /// Default routes over working links: a link that is down or without carrier keeps its route.
    var workingDefaultRoutes: Set<Route> {
        defaultRoutes.filter { links[$0.link]?.works == true }
    }

    /// The source addresses of connections. If there is a default route, only those of its links: containers that start and
    /// stop are not a change of network.
    var ownAddresses: Set<Address> {
        let ways = Set(workingDefaultRoutes.map(\.link))
        return addresses.filter { address in
            guard let link = links[address.link], link.works else { return false }
            return ways.isEmpty ? !link.isLoopback : ways.contains(address.link)
        }
    }
}
