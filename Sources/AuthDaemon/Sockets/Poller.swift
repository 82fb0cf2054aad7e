import CSystemd
import Glibc

/// What a descriptor is ready for, or is to be watched for (epoll_ctl(2)). That its peer has gone is told in any case.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let input = Readiness(rawValue: EPOLLIN.rawValue)
    static let output = Readiness(rawValue: EPOLLOUT.rawValue)
    static let gone = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// Somebody who is told of a descriptor, for as long as it is watched.
protocol ReadinessHandler: AnyObject {
    func ready(for readiness: Readiness)
    /// Nobody will be told of anything any more.
    func executorStops()
}

/// epoll(7), level-triggered. Invariant: nobody is told of a descriptor after ``unwatch(_:)``, also if its number was given to
/// another one meanwhile.
@safe struct Poller: ~Copyable {
    private struct Registration {
        let watcher: any ReadinessHandler
        let number: UInt32
    }

    /// Enough that a turn is shared by many clients, few enough that whoever wants the loop for something else waits for little.
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
        _ descriptor: CInt, for readiness: Readiness, _ watcher: any ReadinessHandler
    ) throws(SystemFailure) {
        lastNumber &+= 1
        var event = unsafe epoll_event(events: readiness.rawValue, data: Self.mark(of: descriptor, lastNumber))
        guard unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw SystemFailure("watch a socket")
        }
        let index = Int(descriptor)
        if index >= watched.count { watched += repeatElement(nil, count: index + 1 - watched.count) }
        watched[index] = Registration(watcher: watcher, number: lastNumber)
    }

    /// Of a descriptor that is watched.
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
    /// - Parameter milliseconds: -1 for as long as it takes.
    /// - Returns: how many there are for ``ready(_:)``.
    func wait(milliseconds: CInt) -> Int {
        Int(max(0, unsafe epoll_wait(poller, events.baseAddress, CInt(Self.maxAtOnce), milliseconds)))
    }

    /// Who is to be told of what; `nil`: nobody any more.
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
