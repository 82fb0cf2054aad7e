import AuthFiles
import CSystemd
import Glibc

/// The readiness of a descriptor, or what to watch for (epoll_ctl(2)). A disconnected peer is always reported.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let input = Readiness(rawValue: EPOLLIN.rawValue)
    static let output = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer sends nothing more.
    static let inputEnd = Readiness(rawValue: EPOLLRDHUP.rawValue)
    static let gone = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// Receives the events of a descriptor while it is watched.
protocol ReadinessHandler: AnyObject {
    /// The process at the other end. If many descriptors are ready at once, processes take turns.
    var peerProcess: Int32 { get }
    func ready(for readiness: Readiness)
    /// There will be no more events.
    func executorStops()
}

extension ReadinessHandler {
    /// None, or one that is not known.
    var peerProcess: Int32 { 0 }
}

/// When the kernel reports a descriptor (epoll(7)).
enum ReportOrder {
    /// As long as it is ready, before all others that are ready at the same time.
    case early
    /// As long as it is ready.
    case always
    /// Once when it becomes ready or gets more input. A watcher that leaves input unread asks for another turn
    /// (``SocketExecutor/serveAgain(_:for:)``).
    case once
}

/// epoll(7). Invariant: there are no events for a descriptor after ``unwatch(_:)``, even if its number is
/// reused.
@safe struct Poller: ~Copyable {
    private struct Registration {
        let watcher: any ReadinessHandler
        let number: UInt32
        let order: ReportOrder
        /// What a descriptor that waits for its turn is ready for.
        var queued: Readiness = []
    }

    /// A descriptor, from one call of ``watch(_:for:_:_:)`` to the end of that watch.
    struct WatchedDescriptor {
        fileprivate let descriptor: CInt
        fileprivate let number: UInt32
    }

    /// Enough to serve many clients in a turn, few enough to keep a turn short.
    private static let maxAtOnce = 64

    private let poller: CInt
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// By descriptor.
    private var watched: [Registration?] = []
    private var lastNumber: UInt32 = 0

    init() throws(SystemFailure) {
        poller = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard poller >= 0 else { throw SystemFailure("watch sockets") }
        unsafe events = .allocate(capacity: Self.maxAtOnce)
    }

    deinit {
        unsafe events.deallocate()
        close(poller)
    }

    mutating func watch(
        _ descriptor: CInt, for readiness: Readiness, _ watcher: any ReadinessHandler, _ order: ReportOrder = .always
    ) throws(SystemFailure) {
        lastNumber &+= 1
        var event = unsafe Self.event(readiness, order, of: descriptor, lastNumber)
        guard unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw SystemFailure("watch a socket")
        }
        let index = Int(descriptor)
        if index >= watched.count { watched += repeatElement(nil, count: index + 1 - watched.count) }
        watched[index] = Registration(watcher: watcher, number: lastNumber, order: order)
    }

    /// Changes the events of a watched descriptor. It is reported again if it is ready for them now.
    func change(_ descriptor: CInt, to readiness: Readiness) {
        guard let found = watched[Int(descriptor)] else { return }
        var event = unsafe Self.event(readiness, found.order, of: descriptor, found.number)
        unsafe epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event)
    }

    /// Before the descriptor is closed.
    mutating func unwatch(_ descriptor: CInt) {
        watched[Int(descriptor)] = nil
        epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, nil)
    }

    var watchers: [any ReadinessHandler] { watched.compactMap { $0?.watcher } }

    /// Waits until something is ready, or the time is over.
    ///
    /// - Parameter milliseconds: -1 for no limit.
    /// - Returns: the number of events for ``ready(_:)``.
    func poll(milliseconds: CInt) -> Int {
        let count = Int(max(0, unsafe epoll_wait(poller, events.baseAddress, CInt(Self.maxAtOnce), milliseconds)))
        var next = 0
        for index in 0..<count where count > 1 && isEarly(index) {
            unsafe events.swapAt(index, next)
            next += 1
        }
        return count
    }

    /// The event; `nil` if its descriptor is not watched any more.
    func ready(_ index: Int) -> (watcher: any ReadinessHandler, for: Readiness)? {
        let event = identity(of: index)
        guard let found = watched[Int(event.descriptor)], found.number == event.number else { return nil }
        return (found.watcher, Readiness(rawValue: unsafe events[index].events))
    }

    /// Queues the descriptor of an event for its turn, unless it is queued already.
    /// - Returns: the descriptor, and its process; `nil`: it is queued already, or is not watched any more.
    mutating func queueForTurn(_ index: Int) -> (descriptor: WatchedDescriptor, process: Int32)? {
        guard let (_, readiness) = ready(index) else { return nil }
        return queueForTurn(identity(of: index).descriptor, for: readiness)
    }

    /// The same for a descriptor whose watcher has not read all input.
    mutating func queueForTurn(
        _ descriptor: CInt, for readiness: Readiness
    ) -> (descriptor: WatchedDescriptor, process: Int32)? {
        guard let found = watched[Int(descriptor)] else { return nil }
        watched[Int(descriptor)]?.queued = found.queued.union(readiness)
        guard found.queued.isEmpty else { return nil }
        return (WatchedDescriptor(descriptor: descriptor, number: found.number), found.watcher.peerProcess)
    }

    /// The watcher whose turn it is; `nil` if its descriptor is not watched any more.
    mutating func turn(of queued: WatchedDescriptor) -> (watcher: any ReadinessHandler, for: Readiness)? {
        guard let found = watched[Int(queued.descriptor)], found.number == queued.number else { return nil }
        watched[Int(queued.descriptor)]?.queued = []
        return (found.watcher, found.queued)
    }

    /// Whether the event comes before those of clients.
    func isEarly(_ index: Int) -> Bool { watched[Int(identity(of: index).descriptor)]?.order == .early }

    private func identity(of index: Int) -> WatchedDescriptor {
        let mark = unsafe events[index].data.u64
        return WatchedDescriptor(
            descriptor: CInt(truncatingIfNeeded: mark), number: UInt32(truncatingIfNeeded: mark >> 32))
    }

    private static func event(
        _ readiness: Readiness, _ order: ReportOrder, of descriptor: CInt, _ number: UInt32
    ) -> epoll_event {
        let reports = order == .once ? EPOLLET.rawValue : 0
        let mark = UInt64(number) << 32 | UInt64(UInt32(bitPattern: descriptor))
        return unsafe epoll_event(events: readiness.rawValue | reports, data: epoll_data_t(u64: mark))
    }
}
