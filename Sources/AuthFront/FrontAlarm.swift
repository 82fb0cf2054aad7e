import AuthGateway
import NIOCore

/// Ends a wait of a connection that takes too long. Everything runs on the event loop of the connection.
final class FrontAlarm {
    private let loop: any EventLoop
    private var times: FrontTimes
    private var scheduled: (time: Duration, task: Scheduled<Void>)?

    init(_ limits: FrontLimits, on loop: any EventLoop) {
        self.loop = loop
        times = FrontTimes(limits, now: Self.now)
    }

    /// What the connection waits for.
    var wait: FrontTimes.Wait { times.wait }

    /// There was progress, or something else is waited for.
    /// - Parameter expire: called once if the wait is not renewed in time.
    func begin(_ wait: FrontTimes.Wait, _ expire: @escaping () -> Void) {
        times.begin(wait, now: Self.now)
        schedule(expire)
    }

    func stop() {
        scheduled?.task.cancel()
        scheduled = nil
    }

    /// Progress only moves the deadline: an alarm that is too early looks at it again.
    private func schedule(_ expire: @escaping () -> Void) {
        guard let deadline = times.deadline, scheduled.map({ deadline < $0.time }) ?? true else { return }
        scheduled?.task.cancel()
        let wait = TimeAmount(max(.milliseconds(1), deadline - Self.now))
        let task = loop.assumeIsolated().scheduleTask(in: wait) { [weak self] in
            guard let self else { return }
            scheduled = nil
            guard times.isOver(now: Self.now) else { return schedule(expire) }
            expire()
        }
        scheduled = (deadline, task)
    }

    private static var now: Duration { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }
}
