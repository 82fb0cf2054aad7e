import CSystemd
import Glibc
import NIOCore

/// Whoever is served at a socket.
protocol ClientSocketDelegate: AnyObject {
    /// The bytes are the executor's: what is to be kept is copied.
    func received(_ bytes: ByteBuffer)
    /// Nothing more will come; answers may still go out.
    func inputEnded()
    /// It has taken some of what waited.
    func tookSome()
    /// So much was taken that more may be sent.
    func roomReturned()
    /// It is closed; the last that is told.
    /// - Parameter failure: what went wrong, if something did.
    func closed(_ failure: SystemFailure?)
}

/// Our end of one client's connection: hands over what comes, sends what it is given, and keeps what the client does not
/// take yet. Only the executor's thread uses it.
final class ClientSocket: ReadinessHandler {
    private enum End {
        case output, all
    }

    let executor: SocketExecutor
    private let descriptor: CInt
    /// Of unsent bytes: above the upper one there is no room, until there is less than the lower one.
    private let marks: ClosedRange<Int>
    private var delegate: (any ClientSocketDelegate)?
    private var unsent = ByteBuffer()
    private var isReading = true
    private var hasInput = true
    private var whenSent: End?
    private(set) var hasRoom = true
    private(set) var isOpen = true

    /// Takes the descriptor, which does not block, over.
    init(_ descriptor: CInt, on executor: SocketExecutor, marks: ClosedRange<Int>) {
        self.descriptor = descriptor
        self.executor = executor
        self.marks = marks
    }

    /// What the client has not taken.
    var waiting: Int { unsent.readableBytes }

    func open(for delegate: any ClientSocketDelegate) throws(SystemFailure) {
        self.delegate = delegate
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: .input, self)
        } catch {
            isOpen = false
            self.delegate = nil
            Glibc.close(descriptor)
            throw error
        }
    }

    func ready(for readiness: Readiness) {
        if readiness.contains(.output) { sendRest() }
        let isGone = !readiness.isDisjoint(with: .gone)
        if isOpen, isReading, hasInput, isGone || readiness.contains(.input) { read() }
        // Nobody takes answers any more; what was said before is read, or not requested.
        if isOpen, isGone, !isReading || !hasInput { close() }
    }

    private func read() {
        let count = executor.read(descriptor) { delegate?.received($0) }
        guard count <= 0, isOpen else { return }
        if count == 0 {
            hasInput = false
            watch()
            delegate?.inputEnded()
        } else if errno != EAGAIN {
            close(SystemFailure("read from a client"))
        }
    }

    /// Whether more of what the client says is wanted now.
    func setReading(_ requested: Bool) {
        guard isReading != requested else { return }
        isReading = requested
        watch()
    }

    private func watch() {
        guard isOpen else { return }
        var requested: Readiness = isReading && hasInput ? .input : []
        if unsent.readableBytes > 0 { requested.insert(.output) }
        executor.change(descriptor, to: requested)
    }

    // MARK: Out

    func send(_ bytes: ByteBuffer) {
        guard isOpen, bytes.readableBytes > 0 else { return }
        var rest = bytes
        if unsent.readableBytes == 0 {
            guard let sent = sendNow(rest) else { return close(SystemFailure("write to a client")) }
            guard sent < rest.readableBytes else { return }
            rest.moveReaderIndex(forwardBy: sent)
        }
        if unsent.readableBytes > 0 {
            unsent.writeBuffer(&rest)
        } else {
            // As it is, without another copy of what may be megabytes.
            unsent = rest
            watch()
        }
        if unsent.readableBytes > marks.upperBound { hasRoom = false }
    }

    private func sendRest() {
        guard let sent = sendNow(unsent) else { return close(SystemFailure("write to a client")) }
        unsent.moveReaderIndex(forwardBy: sent)
        if unsent.readableBytes == 0 {
            unsent = ByteBuffer()
            watch()
            endIfSent()
        } else {
            unsent.discardReadBytes()
        }
        if sent > 0 { delegate?.tookSome() }
        guard isOpen, !hasRoom, unsent.readableBytes < marks.lowerBound else { return }
        hasRoom = true
        delegate?.roomReturned()
    }

    /// - Returns: how much the system took; `nil` where the client is gone.
    private func sendNow(_ bytes: ByteBuffer) -> Int? {
        unsafe bytes.withUnsafeReadableBytes { bytes in
            while true {
                let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
                if count >= 0 { return count }
                if errno == EAGAIN { return 0 }
                guard errno == EINTR else { return nil }
            }
        }
    }

    // MARK: The end

    /// The client is told that nothing more will come, behind the last that was sent.
    func endOutputWhenSent() { end(.output) }

    func closeWhenSent() { end(.all) }

    private func end(_ what: End) {
        guard isOpen else { return }
        whenSent = what
        if unsent.readableBytes == 0 { endIfSent() }
    }

    private func endIfSent() {
        switch whenSent {
        case .output: shutdown(descriptor, CInt(SHUT_WR))
        case .all: close()
        case nil: break
        }
        whenSent = nil
    }

    /// At once, whatever is left to send.
    func close(_ failure: SystemFailure? = nil) {
        guard isOpen else { return }
        isOpen = false
        executor.unwatch(descriptor)
        Glibc.close(descriptor)
        unsent = ByteBuffer()
        // Later: whoever closes it is in the middle of something.
        executor.performNext { [self] in
            delegate?.closed(failure)
            delegate = nil
        }
    }

    func executorStops() { close() }
}
