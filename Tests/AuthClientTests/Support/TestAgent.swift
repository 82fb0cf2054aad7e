import AuthWire
import Foundation
import Glibc
import Synchronization

/// An agent of few words on a real socket in a separate folder: what it answers is up to the test.
///
/// `stop` ends its threads and removes the folder; nothing is left of it afterwards.
final class TestAgent: Sendable {
    /// What the agent saw, in order.
    enum TestAgentEvent: Sendable {
        case connected
        case request(Peer, RPCRequest)
        case ended
    }

    /// To be given to programs as `XDG_RUNTIME_DIR`.
    let folder: String
    let path: String
    let events: AsyncStream<TestAgentEvent>

    private let listener: Int32
    private let tell: AsyncStream<TestAgentEvent>.Continuation
    private let answer: @Sendable (Peer, RPCRequest) -> Void
    private let state = Mutex(State())
    private let threads = DispatchGroup()

    private struct State {
        var peers: [Peer] = []
        var requests: [RPCRequest] = []
        var isStopped = false
    }

    /// - Parameter answer: called on the connection's thread for each request.
    init(
        folder: String? = nil, backlog: Int32 = 64, answer: @escaping @Sendable (Peer, RPCRequest) -> Void
    ) throws {
        self.folder = try folder ?? TestFolder.make()
        self.answer = answer
        path = self.folder + "/authd/socket"
        try FileManager.default.createDirectory(
            atPath: self.folder + "/authd", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        (events, tell) = AsyncStream.makeStream()

        unlink(path)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, backlog) == 0 else { throw POSIXError(.EADDRINUSE) }
        threads.enter()
        Thread.detachNewThread { self.acceptAll() }
    }

    /// Answers each method with the same result or error always; other methods do not exist.
    convenience init(folder: String? = nil, replies: [String: Result<JSON, AgentError>]) throws {
        try self.init(folder: folder) { peer, request in
            switch replies[request.method] {
            case .success(let result): peer.send(RPCReply.result(request.id ?? .null, result))
            case .failure(let error): peer.send(RPCReply.failure(request.id ?? .null, error))
            case nil: peer.send(RPCReply.failure(request.id ?? .null, .methodNotFound(request.method)))
            }
        }
    }

    var requests: [RPCRequest] { state.withLock { $0.requests } }

    /// Ends every connection and the listener, as an agent that was killed; the folder stays.
    func vanish() {
        let peers = state.withLock { state in
            state.isStopped = true
            return state.peers
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for peer in peers { peer.end() }
        threads.wait()
        unlink(path)
    }

    func stop() {
        vanish()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func acceptAll() {
        defer {
            close(listener)
            threads.leave()
        }
        while true {
            let number = accept4(listener)
            guard number >= 0 else { return }
            let peer = Peer(number)
            let goesOn = state.withLock { state in
                if !state.isStopped { state.peers.append(peer) }
                return !state.isStopped
            }
            guard goesOn else { return peer.end() }
            tell.yield(.connected)
            threads.enter()
            Thread.detachNewThread { self.serve(peer) }
        }
    }

    private func accept4(_ listener: Int32) -> Int32 {
        let number = accept(listener, nil, nil)
        if number >= 0 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        return number
    }

    private func serve(_ peer: Peer) {
        defer {
            state.withLock { state in state.peers.removeAll { $0 === peer } }
            peer.close()
            tell.yield(.ended)
            threads.leave()
        }
        for line in peer.lines {
            guard let json = try? JSON(parsing: line), let request = try? RPCRequest(json) else { return }
            state.withLock { $0.requests.append(request) }
            tell.yield(.request(peer, request))
            answer(peer, request)
        }
    }
}

/// One connection as the agent has it.
final class Peer: Sendable {
    private let number: Int32
    private let isClosed = Mutex(false)

    init(_ number: Int32) {
        self.number = number
    }

    /// The process at the other end (SO_PEERCRED, unix(7)).
    var processID: pid_t {
        var peer: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &length)
        return peer.0
    }

    func send(_ json: JSON) {
        send(bytes: json.serialized() + [0x0A])
    }

    func send(bytes: [UInt8]) {
        isClosed.withLock { isClosed in
            var rest = bytes[...]
            while !isClosed, !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Sends a line with a descriptor, twice (SCM_RIGHTS, unix(7)).
    func send(_ json: JSON, passingTwice passed: Int32) {
        var bytes = json.serialized() + [0x0A]
        // A cmsghdr: its length, the level, the type, then the descriptors.
        let descriptor = UInt32(bitPattern: passed)
        var control: [UInt32] = [24, 0, UInt32(SOL_SOCKET), UInt32(SCM_RIGHTS), descriptor, descriptor]
        isClosed.withLock { isClosed in
            guard !isClosed else { return }
            bytes.withUnsafeMutableBytes { bytes in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                withUnsafeMutablePointer(to: &part) { part in
                    control.withUnsafeMutableBytes { control in
                        var message = msghdr()
                        (message.msg_iov, message.msg_iovlen) = (part, 1)
                        (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                        _ = sendmsg(number, &message, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
    }

    /// Ends it in both directions; what was sent still arrives.
    func end() {
        isClosed.withLock { if !$0 { shutdown(number, Int32(SHUT_RDWR)) } }
    }

    fileprivate func close() {
        isClosed.withLock { isClosed in
            isClosed = true
            Glibc.close(number)
        }
    }

    /// Each line until the other side ends.
    fileprivate var lines: some Sequence<[UInt8]> {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        return AnyIterator {
            while true {
                if let end = bytes.firstIndex(of: 0x0A) {
                    defer { bytes.removeSubrange(...end) }
                    return Array(bytes[..<end])
                }
                let count = recv(self.number, &part, part.count, 0)
                guard count > 0 else { return nil }
                bytes += part[..<count]
            }
        }
    }
}

enum TestFolder {
    /// A new folder that only this test knows, short enough for a socket's path.
    static func make() throws -> String {
        var template = Array("/tmp/authc-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EACCES) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
