import AuthFiles
import CSystemd
import Glibc

/// The readiness of a descriptor, or what to watch for (epoll_ctl(2)). A disconnected peer is always reported.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let input = Readiness(rawValue: EPOLLIN.rawValue)
    static let output = Readiness(rawValue: EPOLLOUT.rawValue)
    static let gone = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// Receives the events of a descriptor while it is watched.
protocol ReadinessHandler: AnyObject {
    func ready(for readiness: Readiness)
    /// There will be no more events.
    func executorStops()
}

/// epoll(7), level-triggered. Invariant: there are no events for a descriptor after ``unwatch(_:)``, even if its number is
/// reused.
@safe struct Poller: ~Copyable {
    private struct Registration {
        let watcher: any ReadinessHandler
        let number: UInt32
        let isEarly: Bool
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

    /// - Parameter isEarly: its events come before all others that are ready at the same time.
    mutating func watch(
        _ descriptor: CInt, for readiness: Readiness, _ watcher: any ReadinessHandler, isEarly: Bool = false
    ) throws(SystemFailure) {
        lastNumber &+= 1
        var event = unsafe epoll_event(events: readiness.rawValue, data: Self.mark(of: descriptor, lastNumber))
        guard unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw SystemFailure("watch a socket")
        }
        let index = Int(descriptor)
        if index >= watched.count { watched += repeatElement(nil, count: index + 1 - watched.count) }
        watched[index] = Registration(watcher: watcher, number: lastNumber, isEarly: isEarly)
    }

    /// For a watched descriptor.
    func change(_ descriptor: CInt, to readiness: Readiness) {
        guard let number = watched[Int(descriptor)]?.number else { return }
        var event = unsafe epoll_event(events: readiness.rawValue, data: Self.mark(of: descriptor, number))
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
    func wait(milliseconds: CInt) -> Int {
        let count = Int(max(0, unsafe epoll_wait(poller, events.baseAddress, CInt(Self.maxAtOnce), milliseconds)))
        var next = 0
        for index in 0..<count where count > 1 {
            let descriptor = unsafe CInt(truncatingIfNeeded: events[index].data.u64)
            guard watched[Int(descriptor)]?.isEarly == true else { continue }
            unsafe events.swapAt(index, next)
            next += 1
        }
        return count
    }

    /// The event; `nil` if its descriptor is not watched any more.
    func ready(_ index: Int) -> (watcher: any ReadinessHandler, for: Readiness)? {
        let event = unsafe events[index]
        let mark = unsafe event.data.u64
        let (descriptor, number) = (CInt(truncatingIfNeeded: mark), UInt32(truncatingIfNeeded: mark >> 32))
        guard let found = watched[Int(descriptor)], found.number == number else { return nil }
        return (found.watcher, Readiness(rawValue: unsafe event.events))
    }

    private static func mark(of descriptor: CInt, _ number: UInt32) -> epoll_data_t {
        unsafe epoll_data_t(u64: UInt64(number) << 32 | UInt64(UInt32(bitPattern: descriptor)))
    }
}
