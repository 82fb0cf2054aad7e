package import AuthFiles
package import AuthModel
package import AuthSockets
import AuthWire
import CSystemd
import Glibc

/// The descriptors that systemd passes to us (sd_listen_fds_with_names(3)), distinguished by name.
package enum ListenDescriptors {
    /// Sockets besides the agent's own. Each is a unit that the user has added; all their clients share one limit.
    package static let mostLimited = 16

    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case failed(SystemFailure)
        case invalidName(String)
        case notListening(name: String)
        case several(ListenerName)
        case tooMany(ListenerName)

        package var description: String {
            switch self {
            case .failed(let failure): "\(failure)"
            case .invalidName(let name):
                """
                The socket '\(name.quotable)' from the service manager is not served: FileDescriptorName= of its unit \
                must be \(ListenerName.rule), and not dbus, limited, unknown, stored or \
                connection.
                """
            case .notListening(let name):
                """
                The descriptor '\(name.quotable)' from the service manager is not served, because it is not a \
                listening Unix stream socket with a file: its unit needs ListenStream= with a path.
                """
            case .several(.api):
                """
                The service manager passed more than one socket named 'api', which is the main socket: authd.socket \
                may have one ListenStream=, and each other unit needs a different FileDescriptorName=.
                """
            case .several(let name):
                """
                The service manager passed more than one socket named '\(name.rawValue)', and only the first is \
                served: each unit needs a different FileDescriptorName=, and one ListenStream=.
                """
            case .tooMany(let name):
                """
                The socket '\(name.rawValue)' from the service manager is not served: at most \(mostLimited) units \
                besides authd.socket may have Service= with authd.
                """
            }
        }
    }

    /// A descriptor and its name.
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
        /// Those that are not sockets of the agent. The caller closes them.
        package var others: [Given] = []
        /// Why sockets are not served. They are closed.
        package var refusals: [Refusal] = []
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
        let names = unsafe names(list, count: Int(count))
        var received = try sorted(names.enumerated().map { Given(name: $1, descriptor: descriptor($0)) })
        received.end = descriptor(Int(count))
        return received
    }

    /// Distinguishes descriptors by name.
    /// - Throws: why the main socket cannot be used. A second one is not ignored either: the order of descriptors is undefined
    ///   (sd_listen_fds(3)), so the first may be the one of another unit, whose clients must be confined.
    package static func sorted(_ given: [Given]) throws(Refusal) -> Received {
        var received = Received()
        for given in given {
            do throws(Refusal) {
                guard let (name, path) = try socket(given) else {
                    received.others.append(given)
                    continue
                }
                guard received.sockets[name] == nil else { throw .several(name) }
                let limited = received.sockets.keys.count(where: \.isLimited)
                guard !name.isLimited || limited < mostLimited else { throw .tooMany(name) }
                received.sockets[name] = .inherited(descriptor: given.descriptor, path: path)
            } catch {
                if ListenerName(descriptor: given.name) == .api { throw error }
                received.refusals.append(error)
                close(given.descriptor)
            }
        }
        return received
    }

    /// The listener and the path of a socket; `nil` for what is not meant to be one, such as sessions of the previous run.
    private static func socket(_ given: Given) throws(Refusal) -> (ListenerName, path: String)? {
        guard let name = ListenerName(descriptor: given.name) else {
            if sd_is_socket(given.descriptor, 0, 0, -1) > 0 { throw .invalidName(given.name) }
            // The default of FileDescriptorName=: one of ListenFIFO= or another kind.
            if given.name.hasSuffix(".socket") { throw .notListening(name: given.name) }
            return nil
        }
        guard sd_is_socket_unix(given.descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0,
            let path = path(of: given.descriptor)
        else { throw .notListening(name: given.name) }
        return (name, path)
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
