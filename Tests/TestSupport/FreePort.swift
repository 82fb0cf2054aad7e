import Foundation

/// A TCP port that was free a moment ago, for programs that need a number.
package enum FreePort {
    /// The kernel gives none of these to a connection, or to a listener that asks for any port: those of the other suites could
    /// otherwise take it before the program does.
    package static func find() throws -> Int {
        let ports = try unusedByKernel()
        for _ in 0..<100 {
            let port = Int.random(in: ports)
            if try isFree(port) { return port }
        }
        throw Failure("no port of \(ports) is free")
    }

    /// From ports for users' programs (RFC 6335 §6) to the first that the kernel uses (ip(7)).
    private static func unusedByKernel() throws -> Range<Int> {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        guard let first = range.split(separator: "\t").first.flatMap({ Int($0) }) else {
            throw Failure("the kernel's ports: \(range)")
        }
        return first > 12_000 ? 10_000..<first : 61_000..<65_536
    }

    private static func isFree(_ port: Int) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("no socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
    }
}
