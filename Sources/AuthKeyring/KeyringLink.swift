import AuthConcurrency
import AuthModel
import AuthWire
import CSecret
import GLibRuntime

/// The connection to the keyring service: the bus, an open session with the current owner of the name, and the state of the
/// default collection.
///
/// Invariants: the connection is opened once, and all callers wait for that. A session is never used with another service once
/// the change of owner is known. `states` has the latest state from the bus. Used on the GLib thread only.
final class KeyringLink {
    /// KWallet refuses one session key in 256; a new session has a new one.
    private static let openingTries = 3

    let thread: GLibThread
    let limit: Duration
    let states = StateBroadcast<StoreState>(.starting)
    /// Receives the path of each item that was changed or removed, by any program.
    var itemChanged: ((String) -> Void)?
    /// Called when a service owns the name again.
    var serviceReplaced: (() -> Void)?
    /// Grows by one when a service takes the name: what an earlier one accepted may be lost.
    private(set) var serviceRun = 0

    private let address: String?
    private var bus: BusConnection?
    /// While there is no bus.
    private var arrival: FileArrival?
    private var session: SecretServiceProxy?
    private var waiting: [GIOCall<SecretServiceProxy>.Answer] = []
    private var watches: [GLibSubscription] = []

    private var owner: String?
    /// The user requested something: the bus may start a service.
    private var mayStartService = false
    private var collection: CollectionWatch?
    private var unlocking = Unlocking.notAsked
    /// The user is asked to unlock items of an open collection.
    private var unlocksItems = false
    private var unlockRequest: (any GLibOperation)?
    private var unlockPrompt: GLibSubscription?

    private let writes: WritePrompts
    /// A write waits for the user's answer for longer than its caller did.
    private var isUserSlow = false

    /// For the current lock: the user is asked once, not at every call.
    private enum Unlocking {
        case notAsked, asked, dismissed
    }

    init(address: String?, limit: Duration, on thread: GLibThread) {
        self.address = address
        self.limit = limit
        self.thread = thread
        writes = WritePrompts(on: thread)
        writes.ended = { [weak self] answer in
            self?.isUserSlow = false
            if case .dismissed? = answer { self?.states.set(.denied) } else { self?.look() }
        }
    }

    /// The open session, or a new one.
    func connected() -> GIOCall<SecretServiceProxy> {
        GIOCall(waiting: { [self] answer in
            if let session, bus?.isClosed == false {
                _ = answer(.success(session))
                return
            }
            waiting.append(answer)
            if waiting.count == 1 { open() }
        })
    }

    /// Drops a broken session, so that the next caller opens another one.
    func drop(_ broken: SecretServiceProxy) {
        if session === broken { session = nil }
    }

    /// The bus, for calls without a session.
    var connection: BusConnection? { bus?.isClosed == false ? bus : nil }

    // MARK: Opening

    private func open() {
        if let connection { return openSession(on: connection) }
        guard let address else { return opened(.failure(.error(.noBus))) }
        thread.begin(BusConnection.opening(address, on: thread), limit: limit) { [self] result in
            switch result {
            case .success(let bus):
                adopt(bus)
                openSession(on: bus)
            case .failure(let failure):
                opened(.failure(failure))
            }
        }
    }

    private func openSession(on bus: BusConnection) {
        thread.begin(bus.readingOwner(of: SecretServiceProxy.busName), limit: limit) { [self] result in
            switch result {
            case .success: openSession(on: bus, triesLeft: Self.openingTries)
            case .failure(.error(let error)) where error.isUnowned && mayStartService: startService(on: bus)
            case .failure(.error(let error)) where error.isUnowned: opened(.failure(.error(.noService)))
            case .failure(let failure): opened(.failure(failure))
            }
        }
    }

    private func startService(on bus: BusConnection) {
        mayStartService = false
        thread.begin(bus.startingService(SecretServiceProxy.busName), limit: limit) { [self] result in
            switch result {
            case .success: openSession(on: bus)
            case .failure(.error): opened(.failure(.error(.noService)))
            case .failure(let failure): opened(.failure(failure))
            }
        }
    }

    private func openSession(on bus: BusConnection, triesLeft: Int) {
        thread.begin(SecretServiceProxy.opening(on: bus), limit: limit) { [self] result in
            if case .failure(let failure) = result, case .failed = StoreError(failure), triesLeft > 1,
                connection === bus
            {
                openSession(on: bus, triesLeft: triesLeft - 1)
            } else {
                opened(result)
            }
        }
    }

    private func opened(_ result: Result<SecretServiceProxy, GLibFailure>) {
        switch result {
        case .success(let proxy):
            session = proxy
            look()
        case .failure(.timedOut):
            didNotAnswer()
        case .failure:
            if owner == nil { states.set(.missing) }
        }
        mayStartService = false
        if connection == nil { awaitBus() }
        let answers = waiting
        waiting = []
        for answer in answers { _ = answer(result) }
    }

    /// Waits for the bus's socket to appear, without polling.
    private func awaitBus() {
        guard arrival == nil, let path = address.flatMap(SessionBus.socketPath) else { return }
        arrival = FileArrival(of: path, on: thread) { [weak self] in
            guard let self, waiting.isEmpty else { return }
            tryBus(pauses: [.milliseconds(100), .seconds(1), .seconds(5)])
        }
    }

    /// - Parameter pauses: before further tries: a socket exists a moment before somebody listens on it.
    private func tryBus(pauses: ArraySlice<Duration>) {
        guard connection == nil else { return }
        thread.begin(connected(), limit: limit) { [weak self] _ in
            guard let self, connection == nil, let pause = pauses.first else { return }
            thread.after(pause) { [weak self] in self?.tryBus(pauses: pauses.dropFirst()) }
        }
    }

    private func adopt(_ bus: BusConnection) {
        self.bus = bus
        arrival = nil
        owner = nil
        session = nil
        watches = [
            bus.whenClosed { [weak self] in self?.busClosed(bus) },
            bus.watch(name: SecretServiceProxy.busName) { [weak self] in self?.ownerChanged($0) },
        ]
        // Some services report a replaced item as a new one.
        watches += ["ItemCreated", "ItemChanged", "ItemDeleted"].map { signal in
            bus.subscribe(to: signal, of: CollectionWatch.interface, from: SecretServiceProxy.busName) {
                [weak self] arguments in
                if let path = arguments.members.first?.string { self?.itemChanged?(path) }
            }
        }
        let collection = CollectionWatch(on: bus)
        collection.changed = { [weak self] in self?.collectionChanged($0) }
        self.collection = collection
    }

    // MARK: Signals

    private func busClosed(_ closed: BusConnection) {
        guard closed === bus else { return }
        bus = nil
        session = nil
        owner = nil
        watches = []
        collection = nil
        forgetUnlocking()
        states.set(.missing)
        awaitBus()
    }

    private func ownerChanged(_ new: String?) {
        guard new != owner else {
            if new == nil, waiting.isEmpty { states.set(.missing) }
            return
        }
        let isHandedOver = owner != nil
        owner = new
        session = nil
        forgetUnlocking()
        collection?.forget()
        guard new != nil else { return states.set(.missing) }
        // Listeners learn from this that another service owns the name.
        if isHandedOver { states.set(.missing) }
        serviceRun += 1
        if serviceRun > 1 { serviceReplaced?() }
        look()
    }

    private func collectionChanged(_ found: CollectionWatch.Found) {
        writes.follow(found, on: connection)
        switch found {
        case .open where unlocksItems && unlocking != .notAsked:
            // It was open before, too: that says nothing about the items.
            states.set(unlocking == .dismissed ? .denied : .waiting)
        case .open where isUserSlow: states.set(.waiting)
        case .open where writes.isRefused: states.set(.denied)
        case .open:
            unlocking = .notAsked
            states.set(.ready)
        case .locked:
            states.set(unlocking == .dismissed ? .denied : .locked)
        case .none, .gone:
            states.set(.missing)
        }
    }

    private func look() {
        collection?.look()
    }

    // MARK: Results of calls

    /// The service exceeded a limit. Until it replies to the query without a limit that begins here, calls fail at once.
    func didNotAnswer() {
        states.set(.notAnswering)
        look()
    }

    /// A call failed twice, for a reason that the service does not signal.
    func recordFailure() {
        if states.current == .ready { states.set(.failed) }
    }

    /// A call succeeded: if earlier ones had failed, the state is queried.
    func recordSuccess() {
        if states.current == .failed { look() }
    }

    var isSilent: Bool { states.current == .notAnswering && connection != nil }

    /// The error for a caller that found it locked. Asks the user once.
    ///
    /// - Parameters:
    ///   - paths: the collection, or locked items of one.
    ///   - quietly: without a question, because nobody needs the content now.
    func foundLocked(_ paths: [String], quietly: Bool = false) -> StoreError {
        if unlocking == .dismissed { return .dismissed }
        if !quietly || unlocking == .notAsked { states.set(.locked) }
        guard !quietly else { return .locked }
        if unlocking == .notAsked { unlocksItems = false }
        ask(toUnlock: paths)
        return .locked
    }

    /// Lets the next call start a service if there is none.
    func allowStart() {
        if session == nil { mayStartService = true }
    }

    /// Lets the next call that finds it locked, or that writes, ask the user again.
    func forgetDismissal() {
        if unlocking == .dismissed { unlocking = .notAsked }
        if writes.forgetDismissal() || states.current == .failed { look() }
    }

    /// What prevents any write: the user is being asked about one, or refused one.
    var writeObstacle: StoreError? { writes.obstacle }

    /// See ``WritePrompts/asking(_:on:written:)``.
    func asking(
        _ prompt: String, written: @escaping (_ path: String) -> Void
    ) -> GIOCall<WritePrompts.Answer>? {
        connection.map { writes.asking(prompt, on: $0, written: written) }
    }

    /// The error for a caller that found locked items in an open collection: the service asks the user about each client
    /// (KeePassXC does).
    func foundItemsLocked(_ paths: [String], quietly: Bool = false) -> StoreError {
        if unlocking == .dismissed { return .dismissed }
        guard !quietly else { return .locked }
        states.set(.waiting)
        if unlocking == .notAsked { unlocksItems = true }
        ask(toUnlock: paths)
        return .waiting
    }

    /// A caller has waited for the user for as long as it may.
    func userIsSlow() -> StoreError {
        isUserSlow = true
        states.set(.waiting)
        return .waiting
    }

    /// Does not use libsecret's function: if its prompt is dismissed or the service goes away, it prints GLib criticals and
    /// never ends.
    private func ask(toUnlock paths: [String]) {
        guard unlocking == .notAsked, let connection else { return }
        unlocking = .asked
        let method = BusMethod(
            destination: SecretServiceProxy.busName, path: SecretServiceProxy.path,
            interface: SecretServiceProxy.interface, member: "Unlock")
        let call = connection.calling(method, arguments: BusVariant(tuple: [BusVariant(paths: paths)]), reply: "(aoo)")
        {
            reply -> (unlocked: [String], prompt: String)? in
            guard let unlocked = reply.members.first, let prompt = reply.members.last?.string else { return nil }
            return (unlocked.members.compactMap(\.string), prompt)
        }
        // No limit: it ends when the user has answered, or the service has gone.
        unlockRequest = thread.begin(call, limit: nil) { [weak self] result in
            guard let self, unlocking == .asked else { return }
            switch result {
            case .success(let (unlocked, "/")): unlockEnded(.success(unlocked), of: paths)
            case .success(let (unlocked, prompt)): show(prompt, after: unlocked, of: paths)
            case .failure(let failure): unlockEnded(.failure(failure), of: paths)
            }
        }
    }

    private func show(_ prompt: String, after unlocked: [String], of paths: [String]) {
        guard let connection else { return }
        // Before the call: the answer may come at once.
        unlockPrompt = connection.subscribe(
            to: "Completed", of: WritePrompts.interface, from: SecretServiceProxy.busName, path: prompt
        ) { [weak self] arguments in
            let isDismissed = arguments.members.first?.bool ?? true
            let prompted = isDismissed ? [] : arguments.members.last?.unboxed.members.compactMap(\.string) ?? []
            self?.unlockEnded(.success(unlocked + prompted), of: paths)
        }
        let method = BusMethod(
            destination: SecretServiceProxy.busName, path: prompt, interface: WritePrompts.interface, member: "Prompt")
        let window = BusVariant(tuple: [BusVariant(string: "")])
        unlockRequest = thread.begin(
            connection.calling(method, arguments: window, reply: "()") { _ in true }, limit: nil
        ) {
            [weak self] result in
            if case .failure(let failure) = result { self?.unlockEnded(.failure(failure), of: paths) }
        }
    }

    private func unlockEnded(_ result: Result<[String], GLibFailure>, of paths: [String]) {
        guard unlocking == .asked else { return }
        (unlockRequest, unlockPrompt) = (nil, nil)
        switch result {
        case .success(let unlocked) where unlocked.isEmpty || unlocksItems && unlocked.count < paths.count:
            unlocking = .dismissed
            states.set(.denied)
        case .failure where unlocksItems:
            // The next query would ask again at once, with the same result.
            unlocking = .dismissed
            states.set(.denied)
        case .success, .failure:
            unlocking = .notAsked
        }
        look()
    }

    /// The service that asked the user is gone.
    private func forgetUnlocking() {
        let request = unlockRequest
        (unlockRequest, unlockPrompt) = (nil, nil)
        unlocking = .notAsked
        unlocksItems = false
        isUserSlow = false
        request?.abandon(.cancelled)
        writes.forget()
    }
}
