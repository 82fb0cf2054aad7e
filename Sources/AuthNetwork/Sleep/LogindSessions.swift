import GLibRuntime

/// Whether all login sessions of the user are locked, as logind reports it (org.freedesktop.login1). Used on its GLib
/// thread only; no call blocks.
///
/// A screen locker sets `LockedHint`.
final class LogindSessions {
    private let thread: GLibThread
    private let address: String
    private let handler: (Bool) -> Void
    private var bus: BusConnection?
    private var closing: GLibSubscription?
    private var ownership: GLibSubscription?
    private var signals: [GLibSubscription] = []
    /// The number of the last reading. The results of earlier ones are ignored.
    private var reading = 0
    private var last: Bool?

    /// A bus on this machine replies in milliseconds or not at all.
    private static let timeout = Duration.seconds(5)
    /// The system bus is rarely restarted, and only by hand.
    private static let pauseBeforeReconnecting = Duration.seconds(10)

    /// - Parameter handler: called when the state is known, and at each change.
    init(on thread: GLibThread, address: String, handler: @escaping (Bool) -> Void) {
        self.thread = thread
        self.address = address
        self.handler = handler
        connect()
    }

    private func connect() {
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            guard case .success(let bus) = result else { return connectLater() }
            self.bus = bus
            closing = bus.whenClosed { [weak self] in self?.lost() }
            ownership = bus.watch(name: Logind.name) { [weak self] owner in self?.appeared(owner) }
        }
    }

    private func lost() {
        (bus, closing, ownership, signals) = (nil, nil, nil, [])
        connectLater()
    }

    private func connectLater() {
        thread.after(Self.pauseBeforeReconnecting) { [weak self] in self?.connect() }
    }

    private func appeared(_ owner: String?) {
        signals = []
        guard owner != nil, let bus else { return }
        for signal in ["SessionNew", "SessionRemoved"] {
            signals.append(
                bus.subscribe(to: signal, of: Logind.manager, from: Logind.name, path: Logind.path) { [weak self] _ in
                    self?.read()
                })
        }
        signals.append(
            bus.subscribe(
                to: "PropertiesChanged", of: Logind.properties, from: Logind.name, firstArgument: Logind.session
            ) { [weak self] _ in self?.read() })
        read()
    }

    // MARK: Reading

    private func read() {
        guard let bus else { return }
        reading += 1
        let number = reading
        thread.begin(bus.readingLoginSessions(), limit: Self.timeout) { [weak self] result in
            guard let self, number == reading, case .success(let paths) = result else { return }
            read(paths, number)
        }
    }

    private func read(_ paths: [String], _ number: Int) {
        guard !paths.isEmpty else { return found([], number) }
        let results = Readings(paths.count)
        for path in paths {
            read(path) { [weak self] state in
                results.states.append(state)
                if results.states.count == results.count { self?.found(results.states, number) }
            }
        }
    }

    /// - Parameter done: receives whether it is locked; `nil`: it does not count, or has ended.
    private func read(_ path: String, done: @escaping (Bool?) -> Void) {
        guard let bus else { return }
        thread.begin(bus.readingLoginSession(at: path), limit: Self.timeout) { result in
            let state = try? result.get()
            done(state?.counts == true ? state?.isLocked : nil)
        }
    }

    private func found(_ states: [Bool?], _ number: Int) {
        guard number == reading else { return }
        let states = states.compactMap(\.self)
        let areLocked = !states.isEmpty && states.allSatisfy(\.self)
        guard areLocked != last else { return }
        last = areLocked
        handler(areLocked)
    }

    private final class Readings {
        let count: Int
        var states: [Bool?] = []

        init(_ count: Int) {
            self.count = count
        }
    }
}
