package import AuthFiles
package import AuthModel
package import AuthSockets
import CSystemd
import Glibc

/// The descriptors that systemd passes to us (sd_listen_fds_with_names(3)), distinguished by name.
package enum ListenDescriptors {
    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case failed(SystemFailure)
        case notListening(name: String)
        case several(ListenerName)

        package var description: String {
            switch self {
            case .failed(let failure): "\(failure)"
            case .notListening(let name): "the socket '\(name)' from the service manager is not a listening Unix socket"
            case .several(let name):
                "the service manager passed more than one socket named '\(name.rawValue)'"
            }
        }
    }

    /// A descriptor that is not one of the agent's sockets.
    package struct Given: Sendable {
        package let name: String
        package let descriptor: CInt

        package init(name: String, descriptor: CInt) {
            self.name = name
            self.descriptor = descriptor
        }
    }

    /// What the service manager passed.
    package struct Received: Sendable {
        package var sockets: [ListenerName: SocketFile] = [:]
        /// The caller closes them.
        package var others: [Given] = []
        /// The number after theirs.
        package var end: CInt = 3
    }

    /// Returns the agent's sockets and other descriptors. Removes the variables, so that no child uses them. Call it before any
    /// thread is started: it changes the environment.
    package static func receive() throws(Refusal) -> Received {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = nil
        let count = unsafe sd_listen_fds_with_names(1, &list)
        guard count >= 0 else {
            throw .failed(SystemFailure("accept the sockets of the service manager", number: -count))
        }
        var received = Received()
        received.end = descriptor(Int(count))
        for (index, name) in unsafe names(list, count: Int(count)).enumerated() {
            guard let listener = ListenerName(descriptor: name) else {
                received.others.append(Given(name: name, descriptor: descriptor(index)))
                continue
            }
            guard received.sockets[listener] == nil else { throw .several(listener) }
            guard sd_is_socket_unix(descriptor(index), Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0,
                let path = path(of: descriptor(index))
            else { throw .notListening(name: name) }
            received.sockets[listener] = .inherited(descriptor: descriptor(index), path: path)
        }
        return received
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
