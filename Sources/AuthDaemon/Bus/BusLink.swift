import AuthFiles
import CLinux
import CSystemd
import Glibc

/// Uses a ``BusLink``.
protocol BusLinkDelegate: AnyObject {
    /// The connection has begun; messages can be sent.
    func opened(_ link: BusLink)
    func received(_ message: BusMessage)
    /// Messages that had to wait were sent.
    func drained()
    /// The last call.
    func closed(_ failure: SystemFailure)
}

/// One connection to the message bus, of sd-bus(3), served by the sockets' thread. Nothing here waits for the bus.
///
/// Invariant: while more than ``pauseAbove`` messages wait to be sent, the socket is not watched for input, and a turn
/// processes one message at most.
// @safe: the pointer is used by the sockets' thread only, and not after `close()`.
@safe final class BusLink: ReadinessHandler {
    /// Messages that are processed before other clients have their turn.
    private static let messagesPerTurn = 8
    /// Messages that the bus has not taken.
    private static let pauseAbove: UInt64 = 64

    private let executor: SocketExecutor
    private unowned let delegate: any BusLinkDelegate
    private var bus: OpaquePointer?
    private var descriptor: CInt = -1
    private var timer: TimerID?
    private var isDeferred = false
    /// Calls of ours that were not answered, by cookie.
    private var calls: [UInt64: (BusMessage) -> Void] = [:]

    init(on executor: SocketExecutor, delegate: any BusLinkDelegate) {
        self.executor = executor
        self.delegate = delegate
    }

    deinit {
        unsafe sd_bus_close(bus)
        unsafe sd_bus_unref(bus)
    }

    /// - Parameter address: of Unix sockets only: others might start programs, or wait for a name server.
    func open(_ address: String) throws(SystemFailure) {
        var made: OpaquePointer?
        try check(unsafe sd_bus_new(&made), "create a connection")
        unsafe bus = unsafe made
        try check(unsafe sd_bus_set_address(bus, address), "use the address \(address)")
        try check(unsafe sd_bus_set_bus_client(bus, 1), "create a connection")
        try check(unsafe sd_bus_negotiate_fds(bus, 1), "create a connection")
        let received: sd_bus_message_handler_t = { message, link, _ in
            guard let message = unsafe message, let link = unsafe link else { return 0 }
            return unsafe Unmanaged<BusLink>.fromOpaque(link).takeUnretainedValue().received(
                BusMessage(sharing: message)) ? 1 : 0
        }
        try check(
            unsafe sd_bus_add_filter(bus, nil, received, Unmanaged.passUnretained(self).toOpaque()),
            "create a connection")
        try check(unsafe sd_bus_start(bus), "connect to the session bus")
        descriptor = unsafe sd_bus_get_fd(bus)
        try check(descriptor, "connect to the session bus")
        try executor.watch(descriptor, for: [.input, .output], self)
        delegate.opened(self)
        update()
    }

    private func check(_ result: CInt, _ what: String) throws(SystemFailure) {
        if result < 0 { throw SystemFailure(what, number: -result) }
    }

    /// Without waiting for messages to be sent.
    func close() {
        if descriptor >= 0 { executor.unwatch(descriptor) }
        descriptor = -1
        if let timer { executor.cancel(timer) }
        timer = nil
        calls = [:]
        unsafe sd_bus_close(bus)
        unsafe sd_bus_unref(bus)
        unsafe bus = nil
    }

    /// The descriptor of the bus; `nil` if the connection is closed.
    var openDescriptor: CInt? { descriptor >= 0 ? descriptor : nil }

    /// Whether events should wait, and calls are refused.
    var isFull: Bool { waiting > Self.pauseAbove }

    private var waiting: UInt64 {
        var count: UInt64 = 0
        guard let bus = unsafe bus, unsafe sd_bus_get_n_queued_write(bus, &count) >= 0 else { return 0 }
        return count
    }

    // MARK: Messages

    /// Calls a method of the bus itself.
    func call(_ member: String, _ write: (BusMessage) -> Void, then answered: ((BusMessage) -> Void)? = nil) {
        var made: OpaquePointer?
        let path = "/org/freedesktop/DBus"
        guard unsafe sd_bus_message_new_method_call(bus, &made, Self.busName, path, Self.busName, member) >= 0,
            let made = unsafe made
        else { return }
        let message = unsafe BusMessage(taking: made)
        write(message)
        guard let cookie = send(message) else { return }
        calls[cookie] = answered
    }

    static let busName = "org.freedesktop.DBus"

    func signal(to destination: String, _ path: String, _ interface: String, _ member: String) -> BusMessage? {
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_signal(bus, &made, path, interface, member) >= 0, let made = unsafe made else {
            return nil
        }
        let message = unsafe BusMessage(taking: made)
        return unsafe sd_bus_message_set_destination(made, destination) >= 0 ? message : nil
    }

    func reply(to call: BusMessage, _ write: (BusMessage) -> Void) {
        guard call.expectsReply else { return }
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_method_return(call.raw, &made) >= 0, let made = unsafe made else { return }
        let message = unsafe BusMessage(taking: made)
        write(message)
        guard message.failure == 0 else {
            return fail(
                call, "org.freedesktop.DBus.Error.Failed", SystemFailure("answer", number: -message.failure).description
            )
        }
        send(message)
    }

    func fail(_ call: BusMessage, _ name: String, _ text: String) {
        guard call.expectsReply else { return }
        unsafe name.withCString { name in
            unsafe text.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                _ = unsafe sd_bus_reply_method_error(call.raw, &error)
            }
        }
        update()
    }

    @discardableResult
    func send(_ message: BusMessage) -> UInt64? {
        guard let bus = unsafe bus, message.failure == 0 else { return nil }
        var cookie: UInt64 = 0
        guard unsafe sd_bus_send(bus, message.raw, &cookie) >= 0 else { return nil }
        update()
        return cookie
    }

    private func received(_ message: BusMessage) -> Bool {
        switch message.kind {
        case .reply, .failure:
            // Only the bus is called. Other clients can send replies too, which answer nothing.
            guard message.sender == Self.busName, let cookie = message.answers else { return true }
            calls.removeValue(forKey: cookie)?(message)
        case .call where message.interface == "org.freedesktop.DBus.Peer":
            // sd-bus answers these itself.
            return false
        default: delegate.received(message)
        }
        return true
    }

    // MARK: The loop

    func ready(for readiness: Readiness) { process() }

    func executorStops() {}

    private func process() {
        let wasFull = isFull
        var (processed, hasMore) = (0, true)
        repeat {
            guard let bus = unsafe bus else { return }
            let result = unsafe sd_bus_process(bus, nil)
            if result < 0 { return lost(-result) }
            // sd-bus closes its descriptor with the next call, and another client may get the number.
            guard unsafe sd_bus_is_open(bus) > 0 else { return lost(ECONNRESET) }
            hasMore = result > 0
            processed += 1
        } while hasMore && !isFull && processed < Self.messagesPerTurn
        if wasFull, !isFull { delegate.drained() }
        update()
        // sd-bus may have read more than it has processed.
        guard hasMore, !isDeferred, !isFull else { return }
        isDeferred = true
        executor.performNext { [weak self] in
            self?.isDeferred = false
            self?.process()
        }
    }

    /// Watches what sd-bus waits for.
    private func update() {
        guard let bus = unsafe bus, descriptor >= 0 else { return }
        let events = unsafe sd_bus_get_events(bus)
        guard events >= 0 else { return }
        var readiness: Readiness = []
        if events & CInt(POLLIN) != 0, !isFull { readiness.insert(.input) }
        if events & CInt(POLLOUT) != 0 { readiness.insert(.output) }
        executor.change(descriptor, to: readiness)
        if let timer { executor.cancel(timer) }
        timer = nil
        var deadline = UInt64.max
        // While it is full, the socket's readiness continues the work.
        guard !isFull, unsafe sd_bus_get_timeout(bus, &deadline) >= 0, deadline != .max else { return }
        let left = deadline > Self.now ? deadline - Self.now : 0
        timer = executor.schedule(in: .microseconds(Int64(clamping: left))) { [weak self] in
            self?.timer = nil
            self?.process()
        }
    }

    /// Microseconds of the clock of sd-bus.
    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    private func lost(_ number: CInt) {
        close()
        delegate.closed(SystemFailure("use the session bus", number: number))
    }
}
