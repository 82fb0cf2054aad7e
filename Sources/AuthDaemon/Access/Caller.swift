import AuthMachines
import AuthModel
import AuthWire

/// The client at the other end of a connection, and what that client may do. Only the sockets' thread uses it.
final class Caller {
    let peer: PeerCredentials
    let listener: ListenerName
    /// `nil` for a confined client.
    let process: PeerProcess?
    /// To find the process of a confined client.
    private let reference: PeerReference
    /// `nil`: it may do everything.
    let confinement: Confinement?
    /// Set as soon as there is one. It releases its connection when it is closed.
    var socket: ClientSocket?
    /// The label of the security module, if the message bus reported it.
    private let busLabel: String?
    let changes: AccessChanges
    private var known: (generation: Int, identity: CallerIdentity, folder: String?)?
    /// Nothing is read during a turn of its connection, so its program is compared once in each turn. A comparison
    /// costs as much as the rest of a request.
    private var comparison = Comparison.eachTime
    let repeated = RepeatedEntries()
    /// The sessions of its connection's streams, by the client's name for the stream.
    var streamSessions: [String: SessionName] = [:]

    init(
        _ peer: PeerCredentials, from listener: ListenerName, process: PeerProcess?,
        reference: PeerReference = .socket, confinement: Confinement?, changes: AccessChanges,
        busLabel: String? = nil
    ) {
        self.peer = peer
        self.listener = listener
        self.process = process
        self.reference = reference
        self.confinement = confinement
        self.changes = changes
        self.busLabel = busLabel
    }

    /// Read when it is first needed, and again if the process has become another program, or the settings or rules have
    /// changed. What could not be read is tried again.
    var identity: CallerIdentity {
        let generation = changes.generation
        if let known, known.generation == generation {
            let isOther = comparison == .done ? false : known.folder.map(known.identity.isOther) ?? false
            if !isOther {
                if comparison == .oncePerTurn { comparison = .done }
                return known.identity
            }
        }
        let end: PeerEnd? = listener == .dbus ? .bus(label: busLabel) : socket?.openDescriptor.map(PeerEnd.socket)
        let bare = bareIdentity
        guard let (identity, folder) = bare.completed(process?.reference ?? reference, at: end) else { return bare }
        known = (generation, identity, folder)
        return identity
    }

    private enum Comparison { case eachTime, oncePerTurn, done }

    /// The connection begins to process what it has read.
    func beginTurn() { comparison = .oncePerTurn }

    func endTurn() { comparison = .eachTime }

    /// What is known since the connection.
    var bareIdentity: CallerIdentity {
        var identity = CallerIdentity(
            listener: listener, processID: peer.processID, userID: peer.userID, sandbox: confinement?.client.sandbox)
        identity.isConfined = confinement != nil
        return identity
    }

    /// The identity, as far as access rules need it.
    func identity(for need: AccessFacts.Need) -> CallerIdentity {
        switch need {
        case .connection: bareIdentity
        case .process: known.flatMap { $0.generation == changes.generation ? $0.identity : nil } ?? identity
        case .program: identity
        }
    }

    /// Reads the identity of a program that may hide its executable as soon as it gets a response, before it has a secret.
    func identifyEarly() {
        if known == nil { _ = identity }
    }

    /// The generation of settings and rules.
    var generation: Int { changes.generation }

    /// The decision about its plain token requests, until the rules or the token change.
    var plainDecision: PlainDecision?
}

/// The decision about a connection's plain requests for one token. A class, so that the most frequent request copies nothing.
final class PlainDecision {
    let generation: Int
    /// ``LiveToken/number``
    let token: UInt64
    let decision: AccessDecision
    /// The token must not be returned from memory.
    let isRefused: Bool
    /// The program that the decision is about, if a rule tests that.
    let program: CallerIdentity?

    init(_ decision: AccessDecision, about token: UInt64, generation: Int, program: CallerIdentity?) {
        (self.decision, self.token, self.generation, self.program) = (decision, token, generation, program)
        isRefused = decision.isRefused || decision.check != nil
    }
}
