package import AuthWire

/// The sign-ins under way. The agent never prompts: it says what it needs, and the client that asked does the asking.
///
/// Invariant: one sign-in of a session at a time; a result that comes after its end is dropped.
package actor LoginDesk {
    /// Sign-ins that wait for a person; more than a desktop ever has, few enough to cost nothing.
    package static let most = 64
    /// A sign-in that nobody has touched for so long is over.
    package static let patience = Duration.seconds(600)

    private let table: SessionTable
    private var logins: [String: Login] = [:]
    private var joined: [String: [AsyncStream<Step>.Continuation]] = [:]

    package init(table: SessionTable) {
        self.table = table
    }

    package func start(_ params: LoginStartParams) async throws(AgentError) -> Step {
        guard let profile = table.catalog.profiles[params.provider] else { throw .unknownProvider(params.provider) }
        try await refuseWithoutStore()
        forgetAbandoned()
        guard logins.count < Self.most else {
            throw AgentError(.busy, "There are \(Self.most) sign-ins under way: end one of them first.")
        }
        let login = try Login(id: Self.newID(), params: params, profile: profile, now: table.clock.now().boot)
        if let other = logins.values.first(where: { $0.session == login.session }) {
            throw AgentError(
                .busy, "A sign-in to session \(login.session) is under way: wait for it, or cancel it.",
                cause: "login:\(other.id)")
        }
        if let snapshot = table.board.snapshot(login.session), snapshot.status.provider != profile.name {
            throw AgentError(
                .conflict,
                "Session \(login.session) is at provider \(snapshot.status.provider): sign out of it first, "
                    + "or choose another name.")
        }
        logins[login.id] = login
        return await advance(login.id)
    }

    package func answer(_ params: LoginAnswerParams) async throws(AgentError) -> Step {
        guard var login = logins[params.login] else { throw .unknownLogin }
        guard case .asking = login.stage else {
            throw AgentError(.busy, "This sign-in asks for nothing now: wait for it.")
        }
        try login.take(params.fields, at: table.clock.now().boot)
        logins[params.login] = login
        return await advance(params.login)
    }

    /// The step this sign-in is at; one that works on is waited for.
    package func wait(_ params: LoginParams) async throws(AgentError) -> Step {
        guard let login = logins[params.login] else { throw .unknownLogin }
        if case .asking(let fields, let message) = login.stage { return .asking(login.id, fields, message) }
        let (steps, continuation) = AsyncStream<Step>.makeStream()
        joined[params.login, default: []].append(continuation)
        for await step in steps { return step }
        throw AgentError(.timeout, "The caller has gone.")
    }

    package func cancel(_ params: LoginParams) throws(AgentError) -> Step {
        guard logins[params.login] != nil else { throw .unknownLogin }
        return end(params.login, .failed(params.login, AgentError(.denied, "The sign-in was cancelled.")))
    }

    /// Nothing here sends a code yet, so there is none to send again.
    package func resend(_ params: LoginParams) throws(AgentError) -> Step {
        guard let login = logins[params.login] else { throw .unknownLogin }
        throw AgentError(.unsupported, "Sign-in method \(login.method.name) sends no code.")
    }

    private func advance(_ id: String) async -> Step {
        guard let login = logins[id] else { return .failed(id, .unknownLogin) }
        if case .asking(let fields, let message) = login.stage { return .asking(id, fields, message) }
        let sentAt = table.clock.now()
        let result = await table.provider.signIn(
            login.method, at: login.profile, environment: login.environment, fields: login.fields, sentAt: sentAt)
        // Cancelled meanwhile: what came is dropped.
        guard logins[id] != nil else { return .failed(id, AgentError(.denied, "The sign-in was cancelled.")) }
        do throws(AgentError) {
            let grant = try result.mapError(\.error).get()
            let record = try login.record(from: grant, now: table.clock.now())
            let status = try await table.signedIn(record, sentAt: sentAt)
            return end(id, Step(login: id, kind: .done, status: status))
        } catch {
            return end(id, .failed(id, error))
        }
    }

    private func end(_ id: String, _ step: Step) -> Step {
        logins[id] = nil
        for continuation in joined.removeValue(forKey: id) ?? [] { continuation.yield(step) }
        return step
    }

    /// Nothing is sent to a provider for a session that could not be kept.
    private func refuseWithoutStore() async throws(AgentError) {
        await table.personIsHere()
        let store = table.board.store
        guard store.state != .ready else { return }
        throw .storeNotRead(store)
    }

    private func forgetAbandoned() {
        let now = table.clock.now().boot
        for login in logins.values where now - login.lastTouched > Self.patience {
            guard case .asking = login.stage else { continue }
            _ = end(login.id, .failed(login.id, AgentError(.timeout, "The sign-in was left alone for too long.")))
        }
    }

    /// Not to be guessed by another program that would answer in this one's stead.
    private static func newID() -> String {
        let number = UInt64.random(in: .min ... .max)
        let digits = String(number, radix: 36)
        return "l" + digits
    }
}

extension Step {
    static func asking(_ login: String, _ fields: [StepField], _ message: String?) -> Step {
        Step(login: login, kind: .fields, fields: fields, message: message)
    }

    static func failed(_ login: String, _ error: AgentError) -> Step {
        Step(login: login, kind: .failed, error: error)
    }
}
