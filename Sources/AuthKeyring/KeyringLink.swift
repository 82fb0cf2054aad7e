import AuthConcurrency
import AuthModel
import AuthWire
import CSecret
import GLibRuntime

/// The way to the keyring daemon: the bus, an open session with the daemon that owns the name at present, and what is
/// known of its default collection.
///
/// Invariants: at most one opening is under way, and all who need it wait for that one. A session is never used with
/// another daemon than it was opened with once the change of owner is known. `states` is told the truth as the bus
/// told it last. Used on the GLib thread only.
final class KeyringLink {
    /// KWallet refuses one key in 256 that it is offered for a session; a new session has a new one.
    private static let openingTries = 3

    let thread: GLibThread
    let limit: Duration
    let states = StateBroadcast<StoreState>(.starting)
    /// Told of the path of each item that was changed or removed, by whomever.
    var itemChanged: ((String) -> Void)?
    /// Called when a service has the name again.
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
    /// The user wants something: the bus may start a service for that.
    private var mayStartService = false
    private var collection: CollectionWatch?
    private var unlocking = Unlocking.notAsked
    /// What the user is asked to unlock are items of an open collection.
    private var unlocksItems = false
    private var unlockRequest: (any GLibOperation)?
    private var unlockPrompt: GLibSubscription?

    private let writes: WritePrompts
    /// A write waits for the user's answer for longer than its caller did.
    private var isUserSlow = false

    /// Of this time locked: a person is asked once, not at every call.
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
            if case .dismissed = answer { self?.states.tell(.denied) } else { self?.look() }
        }
    }

    /// An open session; the one there is, or a new one.
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

    /// Forgets a session that did not work, so that the next caller opens another one.
    func drop(_ broken: SecretServiceProxy) {
        if session === broken { session = nil }
    }

    /// The bus, for calls that need no session.
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
            if owner == nil { states.tell(.missing) }
        }
        mayStartService = false
        if connection == nil { awaitBus() }
        let answers = waiting
        waiting = []
        for answer in answers { _ = answer(result) }
    }

    /// Nobody who asks is told of a bus that comes back: its socket is watched, and that costs nothing.
    private func awaitBus() {
        guard arrival == nil, let path = address.flatMap(SessionBus.socketPath) else { return }
        arrival = FileArrival(of: path, on: thread) { [weak self] in
            guard let self, waiting.isEmpty else { return }
            tryBus(pauses: [.milliseconds(100), .seconds(1), .seconds(5)])
        }
    }

    /// - Parameter pauses: before the next tries: a socket is there a moment before anybody listens on it.
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
        // A replaced item is told of as a new one by some services.
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

    // MARK: What the bus tells

    private func busClosed(_ closed: BusConnection) {
        guard closed === bus else { return }
        bus = nil
        session = nil
        owner = nil
        watches = []
        collection = nil
        forgetUnlocking()
        states.tell(.missing)
        awaitBus()
    }

    private func ownerChanged(_ new: String?) {
        guard new != owner else {
            if new == nil, waiting.isEmpty { states.tell(.missing) }
            return
        }
        let isHandedOver = owner != nil
        owner = new
        session = nil
        forgetUnlocking()
        collection?.forget()
        guard new != nil else { return states.tell(.missing) }
        // Whoever follows the states learns from this that another service is behind the name.
        if isHandedOver { states.tell(.missing) }
        serviceRun += 1
        if serviceRun > 1 { serviceReplaced?() }
        look()
    }

    private func collectionChanged(_ found: CollectionWatch.Found) {
        switch found {
        case .open where unlocksItems && unlocking != .notAsked:
            // It was open before, too: that says nothing of the items.
            states.tell(unlocking == .dismissed ? .denied : .waiting)
        case .open where isUserSlow: states.tell(.waiting)
        case .open:
            unlocking = .notAsked
            states.tell(.ready)
        case .locked:
            states.tell(unlocking == .dismissed ? .denied : .locked)
        case .none, .gone:
            states.tell(.missing)
        }
    }

    private func look() {
        collection?.look()
    }

    // MARK: What calls meet

    /// The service let a limit pass. Until it answers the question that is asked here without a limit, nobody waits
    /// for it any more.
    func didNotAnswer() {
        states.tell(.notAnswering)
        look()
    }

    /// A call failed, twice, and for none of the reasons that the service tells of by itself.
    func recordFailure() {
        if states.current == .ready { states.tell(.failed) }
    }

    /// A call went well: if it had failed before, it is asked how it is.
    func recordSuccess() {
        if states.current == .failed { look() }
    }

    var isSilent: Bool { states.current == .notAnswering && connection != nil }

    /// What a caller is told who found it locked. Asks the person, once.
    ///
    /// - Parameter paths: the collection, or locked items of one.
    func foundLocked(_ paths: [String]) -> StoreError {
        if unlocking == .dismissed { return .dismissed }
        states.tell(.locked)
        if unlocking == .notAsked { unlocksItems = false }
        ask(toUnlock: paths)
        return .locked
    }

    /// Lets the next call start a service if there is none.
    func allowStart() {
        if session == nil { mayStartService = true }
    }

    /// Lets the next call that finds it locked, or that writes, ask the person again.
    func forgetDismissal() {
        if unlocking == .dismissed { unlocking = .notAsked }
        if writes.forgetDismissal() || states.current == .failed { look() }
    }

    /// What stands in the way of any write: one that the person is asked about, or has said no to.
    var writeObstacle: StoreError? { writes.obstacle }

    /// See ``WritePrompts/asking(_:on:written:)``.
    func asking(
        _ prompt: String, written: @escaping (_ path: String) -> Void
    ) -> GIOCall<WritePrompts.Answer>? {
        connection.map { writes.asking(prompt, on: $0, written: written) }
    }

    /// What a caller is told who found items locked in a collection that is open: the service wants to ask the user
    /// about each client (KeePassXC does).
    func foundItemsLocked(_ paths: [String]) -> StoreError {
        if unlocking == .dismissed { return .dismissed }
        states.tell(.waiting)
        if unlocking == .notAsked { unlocksItems = true }
        ask(toUnlock: paths)
        return .waiting
    }

    /// A caller has waited for the user as long as it may.
    func userIsSlow() -> StoreError {
        isUserSlow = true
        states.tell(.waiting)
        return .waiting
    }

    /// Not by libsecret's own function: its prompt prints criticals of GLib, and never ends, if it is dismissed or the service
    /// goes meanwhile.
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
        // Before it is asked for: the answer may come at once.
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
            states.tell(.denied)
        case .failure where unlocksItems:
            // The next look would ask again at once, and find the same.
            unlocking = .dismissed
            states.tell(.denied)
        case .success, .failure:
            unlocking = .notAsked
        }
        look()
    }

    /// Whoever was asked to unlock is gone.
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
