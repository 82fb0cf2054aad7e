package import AuthAgent
package import AuthModel
package import AuthWire
import Glibc

/// The agent's information about itself, and actions that the composition provides.
package struct AgentServices: Sendable {
    /// Reads a profile as `authd --check` does, in another process.
    package typealias CheckProfile = @Sendable (ProviderCheckRun) async throws(AgentError) -> ProviderCheck
    /// Sends the requests of a profile without credentials.
    package typealias TryProfile = @Sendable (ProviderTry) async throws(AgentError) -> ProviderTrial
    /// Reloads settings and profiles.
    package typealias Reload = @Sendable (AgentReload) async throws(AgentError) -> ReloadResult
    /// Has the service manager restart the agent. It returns when the manager has accepted that. Errors name only
    /// these sessions.
    package typealias Restart = @Sendable (SessionNames) async throws(AgentError) -> Void

    /// Areas of the protocol that this version supports: the first words of its methods, and `lock`, whose methods
    /// begin with `agent`.
    private static let features: [String] = {
        var areas: [String] = []
        for method in AgentMethods.all {
            let area = String(method.name.prefix { $0 != "." })
            if !areas.contains(area) { areas.append(area) }
        }
        return areas + ["lock"]
    }()

    let checkProfile: CheckProfile
    let tryProfile: TryProfile
    let reload: Reload
    let restart: Restart
    let counters: AgentCounters
    private let clock: any SystemClock
    private let started: Moment
    private let tokenRequests: TokenRequestStatistics
    private let restartInfo: @Sendable () -> RestartInfo?
    private let program: ProgramFile?
    private let landlock: (state: LandlockState, notes: [String])?
    private let listeners: [ListenerName]

    /// - Parameters:
    ///   - restartInfo: how this process is restarted.
    ///   - program: `nil` if it is not known.
    ///   - listeners: the sockets for limited access from the service manager.
    package init(
        clock: any SystemClock, counters: AgentCounters, tokenRequests: TokenRequestStatistics,
        checkProfile: @escaping CheckProfile, tryProfile: @escaping TryProfile, reload: @escaping Reload,
        restart: @escaping Restart, restartInfo: @escaping @Sendable () -> RestartInfo? = { nil },
        program: ProgramFile?,
        landlock: (state: LandlockState, notes: [String])? = nil, listeners: [ListenerName] = []
    ) {
        self.clock = clock
        self.counters = counters
        self.tokenRequests = tokenRequests
        self.checkProfile = checkProfile
        self.tryProfile = tryProfile
        self.reload = reload
        self.restart = restart
        self.restartInfo = restartInfo
        self.program = program
        self.landlock = landlock
        self.listeners = listeners.sorted()
        started = clock.now()
    }

    var pong: Pong { Pong(pid: getpid()) }

    func info(store: StoreInfo, lock: LockStatus?) -> AgentInfo {
        AgentInfo(
            version: Release.version, protocolVersion: Release.protocolNumber, pid: getpid(),
            startedAt: started.wall.unixSeconds, store: store, features: Self.features,
            restartPending: program?.replacement() != nil, restart: restartInfo(), lock: lock,
            landlock: landlock?.state, landlockNotes: landlock?.notes ?? [], listeners: listeners.map(\.rawValue))
    }

    func stats(board: StateBoard) -> AgentStats {
        AgentStats(
            requests: counters.requests, connections: counters.connections, sessions: board.sessionCount,
            renewals: board.renewals, uptime: clock.now().boot - started.boot,
            tokenRequests: tokenRequests.all,
            counters: [
                "waiting_requests": .integer(Int64(counters.waiting)),
                "refused_connections": .integer(Int64(counters.refusals)),
                "unsent_bytes": .integer(Int64(counters.unsentBytes)),
                "unread_bytes": .integer(Int64(counters.unreadBytes)),
                "body_sockets": .integer(Int64(counters.bodySockets)),
                "open_body_sockets": .integer(Int64(counters.openBodySockets)),
            ])
    }
}
