import AuthModel
import Synchronization

/// The notifications with codes that the user enters at a provider, at most one for each listener. Each is withdrawn
/// when its code expires.
final class ShownCodes: Sendable {
    private let desktop: any Notifier
    private let alarms: AlarmClock
    private let codes = Mutex<[ListenerName: ShownCode]>([:])

    private final class ShownCode: AlarmOwner {
        private let listener: ListenerName
        private let desktop: any Notifier

        init(_ listener: ListenerName, _ desktop: any Notifier) { (self.listener, self.desktop) = (listener, desktop) }

        func ring() async { desktop.withdraw(.signInCode(listener)) }
    }

    init(on desktop: any Notifier, alarms: AlarmClock) { (self.desktop, self.alarms) = (desktop, alarms) }

    func show(_ notice: Notice, at listener: ListenerName, until end: BootInstant) {
        let code = ShownCode(listener, desktop)
        let former = codes.withLock { codes in
            defer { codes[listener] = code }
            return codes[listener]
        }
        if let former { alarms.set(nil, for: former) }
        desktop.show(notice)
        alarms.set(end, for: code)
    }
}
