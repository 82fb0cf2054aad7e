import Glibc

/// A TCP port that is bound but not listening, so that connections are refused and no other program gets it. The listener can
/// bind it too, because both set SO_REUSEADDR (socket(7)).
struct ReservedPort: ~Copyable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let host: String
    let port: Int
    private let descriptor: Int32

    /// - Parameter host: a numeric address, IPv4 or IPv6.
    init(host: String) throws(Failure) {
        var address4 = sockaddr_in()
        var address6 = sockaddr_in6()
        address4.sin_family = sa_family_t(AF_INET)
        address6.sin6_family = sa_family_t(AF_INET6)
        let isIPv6 = host.contains(":")
        let parsed =
            isIPv6
            ? unsafe inet_pton(AF_INET6, host, &address6.sin6_addr)
            : unsafe inet_pton(AF_INET, host, &address4.sin_addr)
        guard parsed == 1 else { throw Failure(description: "\(host) is not a numeric address") }

        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "Cannot create a socket: \(Self.reason())") }
        var one: Int32 = 1
        var size = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        var bound = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if bound == 0 {
            bound =
                isIPv6
                ? unsafe Self.bind(descriptor, &address6, &size) : unsafe Self.bind(descriptor, &address4, &size)
        }
        guard bound == 0 else {
            let reason = Self.reason()
            close(descriptor)
            throw Failure(description: "Cannot bind a port on \(host): \(reason)")
        }
        self.host = host
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: isIPv6 ? address6.sin6_port : address4.sin_port))
    }

    deinit {
        close(descriptor)
    }

    @unsafe private static func bind<Address>(
        _ descriptor: Int32, _ address: UnsafeMutablePointer<Address>, _ size: inout socklen_t
    ) -> Int32 {
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            let bound = unsafe Glibc.bind(descriptor, address, size)
            return unsafe bound == 0 ? getsockname(descriptor, address, &size) : bound
        }
    }

    private static func reason() -> String {
        unsafe String(cString: strerror(errno))
    }
}
