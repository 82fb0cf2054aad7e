import Glibc

/// A TCP port that a socket is bound to, without a listener.
struct BoundPort: ~Copyable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        struct NoPort: Error {}
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) != 0 || getsockname(descriptor, pointer, &length) != 0
            }
        }
        guard !failed else { throw NoPort() }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(descriptor)
    }
}
