import AuthModel
import GLibRuntime
import Glibc
import Synchronization

/// logind's signals before and after sleep, and the lock that delays sleep (Inhibitor Locks, systemd's interface description).
/// Used on its GLib thread only; no call blocks.
final class LogindSleep {
    private let thread: GLibThread
    private let address: String
    private let handler: (_ isGoing: Bool, SleepHold?) -> Void
    private var bus: BusConnection?
    private var closing: GLibSubscription?
    private var ownership: GLibSubscription?
    private var signal: GLibSubscription?
    private var inhibitor: SleepHold?
    private var hadBus = false

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let interface = "org.freedesktop.login1.Manager"
    /// A bus on this machine replies in milliseconds or not at all.
    private static let timeout = Duration.seconds(5)
    /// The system bus is rarely restarted, and only by hand.
    private static let pauseBeforeReconnecting = Duration.seconds(10)

    /// - Parameter handler: called before sleep, with the lock if logind granted one, and when the machine is awake again.
    init(
        on thread: GLibThread, address: String, handler: @escaping (_ isGoing: Bool, SleepHold?) -> Void
    ) {
        self.thread = thread
        self.address = address
        self.handler = handler
        connect()
    }

    /// Without a system bus, only the clocks show sleep. One that is there may be slow, or be restarted.
    private func connect() {
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            let bus: BusConnection
            switch result {
            case .success(let new): bus = new
            case .failure(.timedOut): return connectLater()
            case .failure:
                if hadBus { connectLater() }
                return
            }
            hadBus = true
            self.bus = bus
            closing = bus.whenClosed { [weak self] in self?.lost() }
            ownership = bus.watch(name: Self.name) { [weak self] owner in self?.appeared(owner) }
        }
    }

    private func lost() {
        (bus, closing, ownership, signal, inhibitor) = (nil, nil, nil, nil, nil)
        connectLater()
    }

    private func connectLater() {
        thread.after(Self.pauseBeforeReconnecting) { [weak self] in self?.connect() }
    }

    private func appeared(_ owner: String?) {
        signal = nil
        inhibitor = nil
        guard owner != nil, let bus else { return }
        signal = bus.subscribe(to: "PrepareForSleep", of: Self.interface, from: Self.name, path: Self.path) {
            [weak self] arguments in
            guard let self, let isGoing = arguments.members.first?.bool else { return }
            let hold = inhibitor
            inhibitor = nil
            handler(isGoing, isGoing ? hold : nil)
            if !isGoing { inhibit() }
        }
        inhibit()
    }

    private func inhibit() {
        guard let bus else { return }
        let words = ["sleep", "authd", "authd writes unsaved sessions before the machine sleeps.", "delay"]
        let method = BusMethod(
            destination: Self.name, path: Self.path, interface: Self.interface, member: "Inhibit")
        let call = bus.callingForDescriptor(method, arguments: BusVariant(tuple: words.map(BusVariant.init(string:))))
        thread.begin(call, limit: Self.timeout) { [weak self] result in
            // Without the lock, sleep is still reported, but not delayed.
            guard case .success(let descriptor) = result else { return }
            let lock = DescriptorLock(descriptor)
            self?.inhibitor = SleepHold { lock.close() }
        }
    }
}

/// logind's lock: held while the descriptor is open.
private final class DescriptorLock: Sendable {
    private let descriptor: Atomic<Int32>

    init(_ descriptor: Int32) {
        self.descriptor = Atomic(descriptor)
    }

    func close() {
        let open = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if open >= 0 { Glibc.close(open) }
    }
}
