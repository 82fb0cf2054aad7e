package import AuthFiles
import CSystemd
import Glibc

/// The descriptors that systemd passes to us (sd_listen_fds_with_names(3)), distinguished by name.
package enum ListenDescriptors {
    /// The names of the agent's socket in the unit; without FileDescriptorName= it is the name of the socket unit.
    static let names: Set<String> = ["api", "authd.socket"]

    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case failed(SystemFailure)
        case notListening(name: String)
        case several

        package var description: String {
            switch self {
            case .failed(let failure): "\(failure)"
            case .notListening(let name): "the socket '\(name)' from the service manager is not a listening Unix socket"
            case .several: "the service manager passed more than one socket named 'api'"
            }
        }
    }

    /// A descriptor that is not the agent's socket.
    package struct Given: Sendable {
        package let name: String
        package let descriptor: CInt

        package init(name: String, descriptor: CInt) {
            self.name = name
            self.descriptor = descriptor
        }
    }

    /// Returns the agent's socket and other descriptors, which the caller closes. Removes the variables, so that no child
    /// uses them. Call it before any thread is started: it changes the environment.
    package static func receive() throws(Refusal) -> (socket: SocketFile?, others: [Given]) {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = nil
        let count = unsafe sd_listen_fds_with_names(1, &list)
        guard count >= 0 else {
            throw .failed(SystemFailure("accept the sockets of the service manager", number: -count))
        }
        let given = unsafe names(list, count: Int(count))
        let ours = given.indices.filter { names.contains(given[$0]) }
        let others = given.indices.filter { !ours.contains($0) }
            .map { Given(name: given[$0], descriptor: descriptor($0)) }
        guard ours.count <= 1 else { throw .several }
        guard let index = ours.first else { return (nil, others) }
        guard sd_is_socket_unix(descriptor(index), Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0,
            let path = path(of: descriptor(index))
        else { throw .notListening(name: given[index]) }
        return (.inherited(descriptor: descriptor(index), path: path), others)
    }

    /// SD_LISTEN_FDS_START
    private static func descriptor(_ index: Int) -> CInt { 3 + CInt(index) }

    private static func names(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int) -> [String] {
        guard let list = unsafe list else { return [] }
        defer { unsafe free(list) }
        return (0..<count).map { index in
            guard let name = unsafe list[index] else { return "" }
            defer { unsafe free(name) }
            return unsafe String(cString: name)
        }
    }

    /// `nil` for a socket without a file.
    private static func path(of descriptor: CInt) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getsockname(descriptor, generic, &length)
            }
        }
        guard result == 0, Int32(address.sun_family) == AF_UNIX else { return nil }
        let bytes = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
