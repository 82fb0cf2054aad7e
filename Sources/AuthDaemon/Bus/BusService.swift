import AuthAgent
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire
import Glibc
import Logging

/// `org.authd` on the session bus: an object for each session (Docs/dbus.md). Only the sockets' thread uses it.
///
/// Every call is made as a request of the protocol by an identified ``BusClient``, so what decides about requests on
/// the sockets decides about these. Without a bus nothing runs: a folder is watched, or a timer waits.
final class BusService: BusLinkDelegate {
    static let name = "org.authd"
    /// Connections that have called a method and are still there.
    static let mostClients = 256
    /// The most connections from sandboxes: they must not use up those of the user.
    static let mostConfined = 64
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(600)

    unowned let registry: ConnectionRegistry
    private let address: BusAddress
    private(set) var link: BusLink?
    private var watch: FolderWatch?
    private var retry: TimerID?
    private var pause = firstPause
    private var isOn = false
    /// The last failure in the log, so that each is there once.
    private var reported: String?
    /// Why all clients of this bus are confined.
    private var sandbox: ConfinedClient?
    /// By unique name.
    private var clients: [String: BusClient] = [:]

    init(_ registry: ConnectionRegistry, at address: BusAddress) {
        self.registry = registry
        self.address = address
    }

    private var executor: SocketExecutor { registry.executor }
    var logger: Logger { registry.logger }

    // MARK: The connection

    func turn(on wanted: Bool) {
        guard wanted != isOn else { return }
        isOn = wanted
        if wanted { return connect() }
        stopWaiting()
        disconnect()
    }

    private func connect() {
        stopWaiting()
        guard isOn, link == nil, !registry.isStopping else { return }
        let link = BusLink(on: executor, delegate: self)
        self.link = link
        do throws(SystemFailure) {
            try link.open(address.text)
            try check(link)
        } catch {
            closed(error)
        }
    }

    /// A bus of another user could read tokens, and invent clients.
    private func check(_ link: BusLink) throws(SystemFailure) {
        guard let descriptor = link.openDescriptor, let peer = PeerCredentials(descriptor: descriptor) else { return }
        guard peer.userID == registry.policy.now.ownUserID || peer.userID == 0 else {
            throw SystemFailure("use the session bus, which belongs to user \(peer.userID)", number: EPERM)
        }
        sandbox = registry.processes.sandbox(ofListenerAt: descriptor)
        if let sandbox {
            logger.notice("The session bus is not trusted. \(sandbox.text): its clients have limited access.")
        }
    }

    func opened(_ link: BusLink) {
        link.call(
            "RequestName",
            {
                $0.append("s", Self.name)
                $0.append(uint32: 0)
            }, then: { [weak self] in self?.named($0) })
    }

    /// Replies of `RequestName`.
    private static let (primaryOwner, inQueue): (UInt32, UInt32) = (1, 2)

    private func named(_ reply: BusMessage) {
        pause = Self.firstPause
        reported = nil
        switch reply.kind == .reply ? reply.readUInt32() : nil {
        case Self.primaryOwner: logger.info("On the session bus as \(Self.name).")
        case Self.inQueue:
            logger.notice(
                "Another program owns the name \(Self.name) on the session bus. authd is not reachable there until it ends."
            )
        default:
            logger.warning(
                "The session bus refuses the name \(Self.name): \(reply.errorName ?? "no reason"). authd is not on it.")
        }
    }

    func closed(_ failure: SystemFailure) {
        disconnect()
        guard isOn, !registry.isStopping else { return }
        if reported != failure.description {
            // Most machines without a desktop have no bus.
            let level: Logger.Level = failure.number == ENOENT ? .debug : .notice
            logger.log(level: level, "\(failure.description); authd tries again when there is one.")
        }
        reported = failure.description
        waitForBus(after: failure)
    }

    private func disconnect() {
        link?.close()
        link = nil
        for client in clients.values { client.end() }
        clients = [:]
    }

    private func stopWaiting() {
        if let retry { executor.cancel(retry) }
        retry = nil
        watch?.close()
        watch = nil
    }

    /// A bus that is started makes its socket. If there is none, nothing else can help, so there is no timer.
    private func waitForBus(after failure: SystemFailure) {
        stopWaiting()
        if let path = address.socketPath {
            watch = try? FolderWatch(of: path, on: executor) { [weak self] in self?.socketAppeared() }
            let isMissing = unsafe failure.number == ENOENT && access(path, F_OK) != 0
            if isMissing, watch != nil { return }
        }
        retry = executor.schedule(in: pause) { [weak self] in self?.connect() }
        pause = min(pause * 2, Self.longestPause)
    }

    /// The name exists before anybody listens there.
    private func socketAppeared() {
        pause = Self.firstPause
        if let retry { executor.cancel(retry) }
        retry = executor.schedule(in: pause) { [weak self] in self?.connect() }
    }

    // MARK: Messages

    func received(_ message: BusMessage) {
        switch message.kind {
        case .signal where message.sender == BusLink.busName: signal(message)
        case .call: received(call: message)
        default: break
        }
    }

    private func signal(_ message: BusMessage) {
        switch message.member {
        case "NameOwnerChanged":
            guard let name = message.readString(), message.readString() != nil, message.readString() == "" else {
                return
            }
            forget(name)
        case "NameAcquired" where message.readString() == Self.name: logger.debug("The name \(Self.name) is ours.")
        default: break
        }
    }

    private func received(call: BusMessage) {
        guard let sender = call.sender, sender.hasPrefix(":") else { return }
        if let refusal { return fail(call, refusal) }
        guard let client = clients[sender] else { return identify(sender, for: call) }
        guard client.caller != nil else {
            if !client.wait(call) { fail(call, .tooManyRequests(registry.limits)) }
            return
        }
        answer(call, from: client)
    }

    /// Why no call is accepted now.
    private var refusal: AgentError? {
        if registry.isStopping { return .stopping }
        return link?.isFull == true ? .tooManyRequests(registry.limits) : nil
    }

    // MARK: Clients

    /// Whether no request of a client is in progress.
    var isIdle: Bool { clients.values.allSatisfy(\.isIdle) }

    private func identify(_ sender: String, for call: BusMessage) {
        guard clients.count < Self.mostClients else { return fail(call, .tooManyOnBus(clients.count)) }
        let client = BusClient(sender, registry: registry)
        _ = client.wait(call)
        clients[sender] = client
        // First the rule, so that an end is never missed.
        link?.call("AddMatch", { $0.append("s", Self.endRule(sender)) })
        link?.call("GetConnectionCredentials", { $0.append("s", sender) }) { [weak self] reply in
            self?.identified(client, BusCredentials(reply))
        }
    }

    private static func endRule(_ name: String) -> String {
        "type='signal',sender='\(BusLink.busName)',interface='\(BusLink.busName)',member='NameOwnerChanged',arg0='\(name)'"
    }

    private func identified(_ client: BusClient, _ credentials: BusCredentials) {
        let isThere = clients[client.name] === client
        do throws(AgentError) {
            let caller = try registry.caller(credentials, busIn: sandbox)
            if caller.confinement != nil, clients.values.count(where: \.isConfined) >= Self.mostConfined {
                throw .tooManyConfined(Self.mostConfined)
            }
            let calls = client.identified(as: caller)
            // Its end was reported before.
            guard isThere else { return client.end() }
            for call in calls {
                if let refusal { fail(call, refusal) } else { answer(call, from: client) }
            }
        } catch {
            registry.counters.refusal()
            for call in client.identified(as: nil) { fail(call, error) }
            forget(client.name)
        }
    }

    /// A client whose user may not connect any more is refused at its next call.
    func policyChanged() {
        let policy = registry.policy.now
        for client in Array(clients.values) where client.caller.map({ policy.refusal(of: $0.peer) != nil }) == true {
            forget(client.name)
        }
    }

    private func forget(_ name: String) {
        guard let client = clients.removeValue(forKey: name) else { return }
        client.end()
        link?.call("RemoveMatch", { $0.append("s", Self.endRule(name)) })
    }

    // MARK: Changes

    /// An event was published.
    func changed() {
        // Built once, because most clients see everything.
        lazy var full = fullView
        for client in clients.values where client.sent != nil {
            guard link?.isFull == false else { return }
            let isFiltered = client.isConfined || registry.dispatcher.access.mayHideSessions
            report(isFiltered ? view(for: client) : full, to: client)
        }
    }

    func drained() { changed() }

    /// What this client may see.
    func view(for client: BusClient) -> BusView {
        let access = registry.dispatcher.access
        guard let confinement = client.caller.flatMap(access.confinement) else {
            guard let caller = client.caller, let hidden = HiddenSessions(access, for: caller)
            else { return fullView }
            let board = registry.board
            return BusView(
                hidden.without(board.statuses()), network: board.network.state,
                store: hidden.withoutMessage(board.store))
        }
        let visibility = confinement.visibility
        let listed = visibility.rules.allows(SessionListGet.name, SessionListGet.access)
        let network = visibility.rules.allows(NetworkStatusGet.name, NetworkStatusGet.access)
        return BusView(
            listed ? visibility.statuses : [], network: network ? registry.board.network.state : nil, store: nil)
    }

    private var fullView: BusView {
        let board = registry.board
        return BusView(board.statuses(), network: board.network.state, store: board.store)
    }

    /// Signals what has changed since the client was told. Each signal is for this client alone: what it may see depends on it.
    func report(_ view: BusView, to client: BusClient) {
        guard let former = client.sent, former != view else { return }
        if let confinement = client.caller?.confinement,
            !confinement.visibility.rules.allows(EventsSubscribe.name, EventsSubscribe.access)
        {
            return
        }
        client.sent = view
        for change in view.changes(since: former) { send(change, to: client) }
    }

    private func send(_ change: BusView.Change, to client: BusClient) {
        guard let link else { return }
        switch change {
        case .added(let path, let properties):
            guard let signal = link.signal(to: client.name, BusPath.agent, Self.manager, "InterfacesAdded") else {
                return
            }
            signal.append("o", path)
            signal.append(interface: BusView.sessionInterface, properties)
            link.send(signal)
        case .changed(let path, let interface, let properties):
            guard let signal = link.signal(to: client.name, path, Self.properties, "PropertiesChanged") else { return }
            signal.append("s", interface)
            signal.append(properties)
            signal.append(.strings([]))
            link.send(signal)
        case .removed(let path):
            guard let signal = link.signal(to: client.name, BusPath.agent, Self.manager, "InterfacesRemoved") else {
                return
            }
            signal.append("o", path)
            signal.append(.strings([BusView.sessionInterface]))
            link.send(signal)
        }
    }

    static let manager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"

    // MARK: Errors

    func fail(_ call: BusMessage, _ error: AgentError) {
        link?.fail(call, Self.errorName(error.kind ?? .internal_), error.message)
    }

    /// Such as `org.authd.Error.NotSignedIn`.
    static func errorName(_ kind: ErrorKind) -> String {
        let words = kind.rawValue.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return "org.authd.Error." + words.joined()
    }
}

extension AgentError {
    fileprivate static func tooManyOnBus(_ clients: Int) -> AgentError {
        AgentError(.busy, "\(clients) connections of the session bus use authd, the most that are allowed: close some.")
    }
}
