import AuthFiles
import AuthSockets
import CSystemd
import Glibc
import NIOCore

/// The user of a socket.
protocol ClientSocketDelegate: AnyObject {
    /// Received input waits to be processed. Until it is processed, the executor has work in each turn.
    var isDeferred: Bool { get }
    /// Returns `true` if the delegate cannot receive input now: it stops reading, and later resumes it
    /// (``ClientSocket/setReading(_:)``), at once with ``ClientSocket/readNow()``.
    func readsLater() -> Bool
    /// Returns whether it has answered this input, which saves a copy. Otherwise ``received(_:from:)`` follows.
    func answeredAtOnce(_ bytes: UnsafeRawBufferPointer, from sender: PeerCredentials) -> Bool
    /// The bytes belong to the executor: copy what is needed later.
    func received(_ bytes: ByteBuffer, from sender: PeerCredentials)
    /// No more input; output may continue.
    func inputEnded()
    /// The client received some of the waiting bytes.
    func sentSome()
    /// There is room again for more output.
    func roomReturned()
    /// The socket is closed; the last call.
    /// - Parameter failure: what went wrong, if anything.
    func closed(_ failure: SystemFailure?)
}

/// Our end of a client's connection: passes on its input, sends output, and buffers what the client does not receive yet. Only
/// the executor's thread uses it.
final class ClientSocket: ReadinessHandler {
    private enum End {
        case output, all
    }

    let executor: SocketExecutor
    let peerProcess: Int32
    private let descriptor: CInt
    /// Unsent bytes: above the upper mark there is no room, until there is less than the lower one.
    private let marks: ClosedRange<Int>
    private var delegate: (any ClientSocketDelegate)?
    private var unsent = UnsentBytes()
    private var isReading = true
    private var hasInput = true
    private var whenSent: End?
    /// Whether ``whenReceived(_:)`` waits for the client after the socket is closed.
    var waitsForClient = false
    /// The socket is closed, but its descriptor is not, because the client has not received everything.
    private var isUnreceived = false
    private var afterReceipt: (() -> Void)?
    private(set) var hasRoom = true
    private(set) var isOpen = true

    /// Bytes that the client has not received.
    var waiting: Int { unsent.count }

    /// Owns the descriptor, which must be non-blocking.
    init(_ descriptor: CInt, of peerProcess: Int32, on executor: SocketExecutor, marks: ClosedRange<Int>) {
        self.descriptor = descriptor
        self.peerProcess = peerProcess
        self.executor = executor
        self.marks = marks
    }

    /// Has the kernel report the senders of what is received from now on.
    /// - Returns: whether it did not do that before.
    func asksForSenders() -> Bool {
        guard authd_passes_credentials(descriptor) == 0 else { return false }
        SocketFile.receiveCredentials(descriptor)
        return true
    }

    /// `nil` if it is closed: the number may belong to another file.
    var openDescriptor: CInt? { isOpen ? descriptor : nil }

    func open(for delegate: any ClientSocketDelegate) throws(SystemFailure) {
        self.delegate = delegate
        authd_report_unread(descriptor)
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: [.input, .inputEnd], self, .once)
        } catch {
            isOpen = false
            self.delegate = nil
            Glibc.close(descriptor)
            throw error
        }
    }

    func ready(for readiness: Readiness) {
        if isUnreceived {
            if authd_unreceived(descriptor) == 0 { endUnreceived() }
            return
        }
        if readiness.contains(.output) { sendRest() }
        let isGone = !readiness.isDisjoint(with: .gone)
        if mayRead, isGone || !readiness.isDisjoint(with: [.input, .inputEnd]) {
            // The remaining input of a client that has gone is read now.
            if isGone || delegate?.readsLater() != true {
                read(untilEnd: isGone ? readiness : readiness.intersection(.inputEnd))
            }
        }
        // The client cannot receive any more, and its earlier input is read or not needed.
        guard isOpen, isGone, !isReading || !hasInput else { return }
        if delegate?.isDeferred == true {
            // The kernel does not report the hang-up again. Until the input is processed, the loop has work in each
            // turn anyway, so this does not keep it busy.
            executor.serveAgain(descriptor, for: readiness.intersection(.gone))
        } else {
            close()
        }
    }

    /// Reads once, if there is input.
    func readNow() {
        if mayRead { read(untilEnd: []) }
    }

    private var mayRead: Bool { isOpen && isReading && hasInput }

    /// Reads once. The kernel reports input once: if there is more, this socket gets another turn. After
    /// ``setReading(_:)`` the kernel reports again what is there.
    ///
    /// - Parameter readiness: the reported events that announce the end of the input; empty if it is not announced.
    private func read(untilEnd readiness: Readiness) {
        guard let delegate else { return }
        let (count, unread) = executor.read(descriptor, for: delegate)
        guard isOpen else { return }
        if count > 0 {
            if mayRead, !readiness.isEmpty || (unread < 0 ? authd_unread(descriptor) : unread) > 0 {
                executor.serveAgain(descriptor, for: readiness.union(.input))
            }
        } else if count == 0 {
            endInput()
            delegate.inputEnded()
        } else if errno != EAGAIN {
            close(SystemFailure("read from a client"))
        }
    }

    /// Nothing more is read.
    func endInput() {
        hasInput = false
        watch()
    }

    /// Whether to read more input.
    func setReading(_ requested: Bool) {
        guard isReading != requested else { return }
        isReading = requested
        watch()
    }

    private func watch() {
        guard isOpen else { return }
        var requested: Readiness = isReading && hasInput ? [.input, .inputEnd] : []
        if waiting > 0 { requested.insert(.output) }
        executor.change(descriptor, to: requested)
    }

    // MARK: Output

    /// Only what the client does not accept at once is copied.
    func send(_ bytes: UnsafeRawBufferPointer) {
        guard isOpen, unsafe !bytes.isEmpty else { return }
        var sent = 0
        if waiting == 0 {
            do throws(SystemFailure) {
                sent = try unsafe sendNow(bytes)
            } catch {
                return close(error)
            }
            guard sent < bytes.count else { return }
        }
        unsafe send(ByteBuffer(bytes: bytes[sent...]))
    }

    /// Sends a line with a descriptor for the client. Nothing else may wait to be sent.
    /// - Returns: `true` if both were sent, or if the connection is closed; `false` if nothing was sent.
    func send(_ line: [UInt8], passing passed: CInt) -> Bool {
        guard isOpen, waiting == 0 else { return !isOpen }
        while true {
            let count = unsafe line.withUnsafeBytes {
                unsafe authd_send_descriptor(descriptor, $0.baseAddress, $0.count, passed)
            }
            if count >= 0 {
                send(ByteBuffer(bytes: line[count...]))
                return true
            }
            switch errno {
            case EINTR: continue
            // ETOOMANYREFS: the user's processes have too many descriptors in messages.
            case EAGAIN, ETOOMANYREFS: return false
            default:
                close(SystemFailure("write to a client"))
                return true
            }
        }
    }

    func send(_ bytes: ByteBuffer) {
        guard isOpen, bytes.readableBytes > 0 else { return }
        var rest = bytes
        if unsent.isEmpty {
            do throws(SystemFailure) {
                rest.moveReaderIndex(forwardBy: try sendNow(rest))
            } catch {
                return close(error)
            }
            guard rest.readableBytes > 0 else { return }
            unsent.append(rest)
            watch()
        } else {
            unsent.append(rest)
        }
        if unsent.count > marks.upperBound { hasRoom = false }
    }

    /// What the client does not accept in this turn is sent later. No large piece is copied.
    func send(_ pieces: [ByteBuffer]) {
        guard isOpen else { return }
        let wasEmpty = unsent.isEmpty
        for piece in pieces { unsent.append(piece) }
        if wasEmpty {
            do throws(SystemFailure) {
                _ = try unsent.send(sendNow)
            } catch {
                return close(error)
            }
            if !unsent.isEmpty { watch() }
        }
        if unsent.count > marks.upperBound { hasRoom = false }
    }

    private func sendRest() {
        var sent = 0
        do throws(SystemFailure) {
            sent = try unsent.send(sendNow)
        } catch {
            return close(error)
        }
        // If the socket still has room, the kernel reports it again.
        if unsent.isEmpty || sent >= UnsentBytes.mostAtOnce { watch() }
        if unsent.isEmpty { endIfSent() }
        if sent > 0 { delegate?.sentSome() }
        guard isOpen, !hasRoom, unsent.count < marks.lowerBound else { return }
        hasRoom = true
        delegate?.roomReturned()
    }

    /// - Returns: how many bytes the system accepted.
    private func sendNow(_ bytes: ByteBuffer) throws(SystemFailure) -> Int {
        try unsafe bytes.withUnsafeReadableBytes { (bytes) throws(SystemFailure) in try unsafe sendNow(bytes) }
    }

    private func sendNow(_ bytes: UnsafeRawBufferPointer) throws(SystemFailure) -> Int {
        while true {
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            guard errno == EINTR else { throw SystemFailure("write to a client") }
        }
    }

    // MARK: Closing

    /// Ends the output after the last byte.
    func endOutputWhenSent() { end(.output) }

    func closeWhenSent() { end(.all) }

    private func end(_ what: End) {
        guard isOpen else { return }
        whenSent = what
        if unsent.isEmpty { endIfSent() }
    }

    private func endIfSent() {
        switch whenSent {
        case .output: shutdown(descriptor, CInt(SHUT_WR))
        case .all: close()
        case nil: break
        }
        whenSent = nil
    }

    /// At once, with output that is still unsent.
    func close(_ failure: SystemFailure? = nil) {
        guard isOpen else { return }
        isOpen = false
        executor.unwatch(descriptor)
        isUnreceived = waitsForClient && executor.watchUnreceived(descriptor, self)
        if !isUnreceived { Glibc.close(descriptor) }
        unsent = UnsentBytes()
        // Later: the caller may be using the socket.
        executor.performNext { [self] in
            delegate?.closed(failure)
            delegate = nil
        }
    }

    /// Calls `work` when the client has received everything, or has closed its end.
    func whenReceived(_ work: @escaping () -> Void) {
        if isUnreceived { afterReceipt = work } else { work() }
    }

    private func endUnreceived() {
        isUnreceived = false
        executor.unwatch(descriptor)
        Glibc.close(descriptor)
        afterReceipt?()
        afterReceipt = nil
    }

    func executorStops() {
        if isUnreceived { endUnreceived() } else { close() }
    }
}
