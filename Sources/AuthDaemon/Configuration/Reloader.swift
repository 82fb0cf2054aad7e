package import AuthAgent
package import AuthConcurrency
package import AuthModel
package import AuthWire
import Logging

/// Applies changed settings and profiles: all of them or, if one is broken, none.
///
/// Invariant: an older reading never replaces a newer one.
package actor Reloader {
    package typealias Read = @Sendable () -> ConfigurationReading
    /// Opens or closes the extra socket as the settings say.
    package typealias OpenExtra = @Sendable (Settings) throws(StartRefusal) -> Void

    private var current: AgentConfiguration
    /// The settings at the start: some changes take effect only at a start.
    private let started: Settings
    private let read: Read
    private let board: StateBoard
    private let registry: SessionRegistry
    private let policy: CurrentPeerPolicy
    private let tables: StateBroadcast<ListenerTables>
    /// Those that the service manager has passed; `nil`: unknown.
    private let sockets: Set<ListenerName>?
    /// Root's rules; those of the user change only with `policy.apply`.
    private let accessRules: PolicyRequests
    private let accessChanges: AccessChanges
    private let signInLimit: SignInLimit
    private let openExtra: OpenExtra
    private let chosen: DefaultSessionSettings
    private let showsNotices: StateBroadcast<Bool>
    private let hooks: StateBroadcast<[Hook]>
    private let servesBus: StateBroadcast<Bool>
    private let lock: StateBroadcast<LockSettings>
    private let sandbox: SandboxAdvice
    private let presence: StateBroadcast<PresenceSettings>
    private let log: AgentLog
    private let logger: Logger
    private let notifier: ServiceNotifier
    /// The command line sets the level, so the settings do not.
    private let fixedLevel: Bool
    /// The command line sets the store, so the settings do not.
    private let fixedStore: Bool
    /// What restarts this agent, for messages.
    private let restartCommands: String
    /// Reads in the order of the calls.
    private let disk = BlockingThread()
    private var lastReading = 0
    /// The reading that is in effect; 0: the one at the start.
    private var inEffect = 0

    package init(
        current: AgentConfiguration, read: @escaping Read, board: StateBoard, registry: SessionRegistry,
        policy: CurrentPeerPolicy, tables: StateBroadcast<ListenerTables>, sockets: Set<ListenerName>? = nil,
        accessRules: PolicyRequests, accessChanges: AccessChanges,
        signInLimit: SignInLimit,
        openExtra: @escaping OpenExtra,
        chosen: DefaultSessionSettings, showsNotices: StateBroadcast<Bool>, hooks: StateBroadcast<[Hook]>,
        servesBus: StateBroadcast<Bool> = StateBroadcast(nil),
        lock: StateBroadcast<LockSettings> = StateBroadcast(nil),
        presence: StateBroadcast<PresenceSettings> = StateBroadcast(nil),
        sandbox: SandboxAdvice = SandboxAdvice(isRestricted: false), log: AgentLog, fixedLevel: Bool,
        fixedStore: Bool = false, restartCommands: String = "`authc agent restart`", notifier: ServiceNotifier
    ) {
        self.current = current
        started = current.settings
        self.read = read
        self.board = board
        self.registry = registry
        self.policy = policy
        self.tables = tables
        self.sockets = sockets
        self.accessRules = accessRules
        self.accessChanges = accessChanges
        self.signInLimit = signInLimit
        self.openExtra = openExtra
        self.chosen = chosen
        self.showsNotices = showsNotices
        self.hooks = hooks
        self.servesBus = servesBus
        self.lock = lock
        self.sandbox = sandbox
        self.presence = presence
        self.log = log
        self.fixedLevel = fixedLevel
        self.fixedStore = fixedStore
        self.restartCommands = restartCommands
        self.notifier = notifier
        logger = log.logger()
    }

    /// - Throws: `validation` with each problem as a detail; everything is as it was then.
    package func reload() async throws(AgentError) -> ReloadResult {
        notifier.reloading()
        defer { notifier.ready(status: StatusLine.text(board)) }
        let found: Found
        do throws(AgentError) {
            found = try await self.found()
        } catch {
            for problem in error.details { logger.error("\(problem)") }
            logger.error(
                "Nothing is changed: the settings and profiles stay as they were.",
                metadata: CatalogMessage.reloadRefused.metadata())
            throw error
        }
        // A reload that read later was applied first.
        guard found.reading > inEffect else { return ReloadResult(message: ReloadResult.unchanged) }
        inEffect = found.reading
        // Before the first wait, like everything that a later reload could overtake.
        _ = accessRules.use(root: found.rootRules)
        var changes = found.changes
        changes += await apply(found.configuration)
        let waiting = waitingText(found.restartNeeded)
        for change in changes + waiting { logger.notice("Reloaded: \(change)") }
        if changes.isEmpty, waiting.isEmpty { logger.notice("Reloaded: nothing has changed.") }
        return result(changes, found.restartNeeded)
    }

    /// What a reload would change; nothing is.
    /// - Throws: as ``reload()``.
    package func check() async throws(AgentError) -> ReloadResult {
        let found = try await found()
        return result(found.changes, found.restartNeeded)
    }

    private struct Found {
        let reading: Int
        let configuration: AgentConfiguration
        let rootRules: AccessPolicy.Rules
        let changes: [String]
        let restartNeeded: [String]
    }

    private func found() async throws(AgentError) -> Found {
        lastReading += 1
        let number = lastReading
        let work = { @Sendable [read, accessRules, sandbox] in
            let reading = read()
            let refusals = reading.configuration.map(sandbox.refusals) ?? []
            return (reading, Result { () throws(AgentError) in try accessRules.rootRules() }, refusals)
        }
        guard let (reading, rootReading, refusals) = await disk.run(work) else { throw .callerGone }
        guard let new = reading.configuration, reading.problems.isEmpty else {
            throw AgentError(
                .validation, "The settings or profiles are broken; everything stays as it was.",
                details: reading.problems.map(\.description) + sandbox.reasons(for: reading.problems))
        }
        let rootRules = try rootReading.get()
        let otherRules = accessRules.differs(root: rootRules) ? ["root's access rules are different"] : []
        return Found(
            reading: number, configuration: new, rootRules: rootRules,
            changes: ConfigurationChange.list(from: current, to: new, sockets: sockets) + otherRules + refusals,
            restartNeeded: ConfigurationChange.waiting(
                from: started, to: new.settings, store: fixedStore ? nil : board.store.kind))
    }

    private func result(_ changes: [String], _ restartNeeded: [String]) -> ReloadResult {
        let lines = changes + waitingText(restartNeeded)
        return ReloadResult(
            message: lines.isEmpty ? ReloadResult.unchanged : lines.joined(separator: "; "), changes: changes,
            restartNeeded: restartNeeded)
    }

    private func waitingText(_ names: [String]) -> [String] {
        guard !names.isEmpty else { return [] }
        let verbs = names.count == 1 ? "has changed and needs" : "have changed and need"
        return ["\(names.joined(separator: ", ")) \(verbs) a restart: \(restartCommands)"]
    }

    /// - Returns: what could not be applied.
    private func apply(_ new: AgentConfiguration) async -> [String] {
        var failures: [String] = []
        current = new
        policy.now = PeerPolicy(
            ownUserID: policy.now.ownUserID, allowedUserIDs: Set(new.settings.allowedUserIDs))
        tables.set(new.settings.listeners)
        accessChanges.changed()
        signInLimit.change(perHour: new.settings.signInsPerHour)
        do throws(StartRefusal) {
            try openExtra(new.settings)
        } catch {
            failures.append("the extra socket is not open: \(error.message)")
        }
        showsNotices.set(new.settings.notifications)
        board.put(waitsIfMetered: new.settings.waitsIfMetered)
        hooks.set(new.settings.hooks)
        servesBus.set(new.settings.dbus)
        lock.set(new.settings.lock)
        presence.set(new.settings.presence)
        accessRules.use(presenceSessions: new.settings.presence.sessions)
        if !fixedLevel, let level = new.settings.level { log.level = level }
        await chosen.apply(new.settings)
        // What is handed over depends on the default session, too.
        accessChanges.changed()
        await registry.reload(new.catalog)
        return failures
    }
}

/// Describes the changes of a reload for the log.
enum ConfigurationChange {
    static func list(
        from old: AgentConfiguration, to new: AgentConfiguration, sockets: Set<ListenerName>? = nil
    ) -> [String] {
        var changes = profiles(from: old.catalog, to: new.catalog)
        if old.settings.logLevel != new.settings.logLevel {
            changes.append("the log level is \(new.settings.logLevel ?? "the default")")
        }
        if old.settings.allowedUserIDs != new.settings.allowedUserIDs {
            changes.append("users allowed besides the owner: \(new.settings.allowedUserIDs)")
        }
        for name in new.settings.listeners.differences(from: old.settings.listeners) {
            let isUnused =
                name != .extra && new.settings.listeners.names.contains(name) && sockets?.contains(name) == false
            let note = isUnused ? ", and not in use: no socket unit has FileDescriptorName=\(name.rawValue)" : ""
            changes.append("[listener.\(name.rawValue)] is different\(note)")
        }
        if old.settings.defaultSession != new.settings.defaultSession {
            changes.append("the default session is \(new.settings.defaultSession?.text ?? "the first signed in")")
        }
        if old.settings.clientDocument != new.settings.clientDocument {
            changes.append("client_metadata_url is \(new.settings.clientDocument ?? "not set")")
        }
        if old.settings.signInsPerHour != new.settings.signInsPerHour {
            changes.append("sign_ins_per_hour is \(new.settings.signInsPerHour)")
        }
        if old.settings.folders != new.settings.folders { changes.append("the folder rules are different") }
        if old.settings.hooks != new.settings.hooks { changes.append("the hooks are different") }
        if old.settings.notifications != new.settings.notifications {
            changes.append("notifications are \(new.settings.notifications ? "shown" : "no longer shown")")
        }
        if old.settings.waitsIfMetered != new.settings.waitsIfMetered {
            let what = new.settings.waitsIfMetered ? "wait" : "do not wait"
            changes.append("queued writes and streams \(what) on a metered network")
        }
        if old.settings.dbus != new.settings.dbus {
            changes.append("the session bus is \(new.settings.dbus ? "served" : "no longer served")")
        }
        if old.settings.lock != new.settings.lock { changes.append("[lock] is different") }
        if old.settings.presence != new.settings.presence {
            changes.append("the sessions whose tokens need your presence, or [presence], are different")
        }
        return changes
    }

    /// The settings that take effect only at a start.
    /// - Parameters:
    ///   - old: the settings at the start.
    ///   - store: the store in use; `nil`: the settings do not choose it.
    static func waiting(from old: Settings, to new: Settings, store: StoreKind?) -> [String] {
        // The sessions may have been moved since the start.
        let hasOtherStore = store.map { used in new.store.map { $0 != used } ?? (old.store != nil) } ?? false
        return [
            ("store", hasOtherStore), ("etcd", old.etcd != new.etcd), ("sealed_key", old.sealedKey != new.sealedKey),
            ("socket", old.socket != new.socket), ("http", old.http != new.http),
        ].filter(\.1).map(\.0)
    }

    private static func profiles(from old: ProfileCatalog, to new: ProfileCatalog) -> [String] {
        var changes: [String] = []
        for profile in new.list where old[profile.name] != profile {
            changes.append(
                old[profile.name] == nil
                    ? ReloadResult.added(profile: profile.name) : ReloadResult.changed(profile: profile.name))
        }
        for profile in old.list where new[profile.name] == nil { changes.append("provider \(profile.name) is gone") }
        return changes
    }
}
