package import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// Follows the machine's network and sleep, and carries out what ``NetworkMachine`` decides.
package final class NetworkMonitor: Sendable {
    /// What the rest of the agent does when something changes.
    package struct Reactions: Sendable {
        /// The network as others may see it.
        package var publish: @Sendable (_ state: NetworkState, _ providers: [String: String]) -> Void
        /// Providers whose clocks are so far ahead of ours, or behind it, that users are notified.
        package var publishSkews: @Sendable (_ providers: [String: Duration]) -> Void
        /// Whether the network is metered.
        package var publishMetered: @Sendable (Bool) -> Void
        /// Open connections may be dead: the machine has other addresses or routes, or has slept.
        package var connectionsEnd: @Sendable () async -> Void
        /// Each session is to get its ``NetworkMonitor/news(of:)``; never called twice at once.
        package var notifySessions: @Sendable () async -> Void
        /// The machine is about to sleep: what is unwritten is to be written, within ``NetworkMonitor/longestHold``.
        package var prepareForSleep: @Sendable () async -> Void
        /// The wall clock was set.
        package var clockSet: @Sendable () async -> Void
    }

    /// logind waits 5 s by default (logind.conf(5), InhibitDelayMaxSec).
    package static let longestHold = Duration.seconds(3)

    private let watch: any NetworkWatch
    private let sleep: any SleepWatch
    private let tasks: AgentTasks
    private let performer: NetworkPerformer
    private let runner: Runner<NetworkMachine>

    package init(watch: any NetworkWatch, sleep: any SleepWatch, transport: any HTTPTransport, tasks: AgentTasks) {
        self.watch = watch
        self.sleep = sleep
        self.tasks = tasks
        performer = NetworkPerformer(transport: transport)
        runner = Runner(NetworkMachine(), performer: performer, tasks: tasks)
    }

    var clock: any SystemClock { tasks.clock }

    /// Follows until it is cancelled.
    package func run(_ reactions: Reactions) async {
        performer.reactions.withLock { $0 = reactions }
        await runner.send(.began)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await reading in self.watch.readings() { await self.runner.send(.reading(reading)) }
            }
            group.addTask {
                for await isMetered in self.watch.metered() { reactions.publishMetered(isMetered) }
            }
            group.addTask {
                for await event in self.sleep.events() { await self.follow(event, reactions) }
            }
        }
        performer.reactions.withLock { $0 = nil }
        await runner.close()
    }

    /// The providers that sessions are at, each with its places. An older version than the last one is dropped.
    package func use(_ providers: [String: Set<Probe>], version: UInt64) async {
        await runner.send(.inUse(providers), version: version, from: .sessions)
    }

    /// What the network is like for that place. Two readings may overtake each other on their way to a session: the version
    /// tells which one is newer.
    package func news(of origin: Origin?) async -> VersionedNetworkState {
        await runner.read { $0.news(of: origin) }
    }

    /// Returns when its actor has handled what it was sent before.
    func answers() async { await runner.read { _ in } }

    /// Returns when it is known whether a call may go there; a probe takes ``Probe/limit`` at most.
    /// - Throws: ``TransportError/cancelled`` if the task is cancelled, or the agent is stopping.
    package func clearance(for origin: Origin) async throws(TransportError) -> Clearance {
        do throws(WaitEnd) {
            return try await runner.ask { .clearanceRequested($0, origin) }
        } catch {
            throw .cancelled
        }
    }

    func callEnded(_ word: Reachability, at origin: Origin, round: Int) async {
        await runner.send(.callEnded(origin, round: round, word))
    }

    /// How far the clock that this reply came from is ahead of ours, by this reply or an earlier one.
    func skew(of reply: HTTPResponse, from origin: Origin, sent: Moment) async -> Duration {
        let now = clock.now()
        if let skew = ClockSkew(reply, sent: sent, received: now) { await runner.send(.skewMeasured(origin, skew)) }
        return await runner.read { $0.skew(of: origin, at: now) }
    }

    /// The same of a place that a request is about to be sent to; zero if nothing is known of its clock.
    func skew(of origin: Origin) async -> Duration {
        let now = clock.now()
        return await runner.read { $0.skew(of: origin, at: now) }
    }

    // MARK: Sleep

    private func follow(_ event: SleepEvent, _ reactions: Reactions) async {
        switch event {
        case .preparing(let hold):
            await runner.send(.sleeping)
            await prepare(reactions)
            hold.end()
        case .resumed: await runner.send(.resumed)
        case .clockSet:
            await runner.send(.clockSet)
            await reactions.clockSet()
        }
    }

    private func prepare(_ reactions: Reactions) async {
        let end = clock.now().boot + Self.longestHold
        await withTaskGroup(of: Void.self) { [clock] group in
            group.addTask { await reactions.prepareForSleep() }
            group.addTask { try? await clock.sleep(until: end) }
            await group.next()
            group.cancelAll()
        }
    }
}

private final class NetworkPerformer: ActionPerformer {
    let transport: any HTTPTransport
    /// `nil`: nobody follows the network yet, or any more.
    let reactions = Mutex<NetworkMonitor.Reactions?>(nil)

    init(transport: any HTTPTransport) {
        self.transport = transport
    }

    private var present: NetworkMonitor.Reactions? { reactions.withLock { $0 } }

    func perform(_ action: NetworkAction, on runner: isolated Runner<NetworkMachine>) {
        switch action {
        case .closeIdleConnections(let abandoning):
            runner.start { [transport] in
                if abandoning { await transport.closeAllConnections() } else { await transport.closeIdleConnections() }
                await self.present?.connectionsEnd()
                return nil
            }
        case .probe(let probe, let round):
            runner.start { [transport] in .probed(probe.origin, round: round, await probe.reading(by: transport)) }
        case .publish(let state, let providers): present?.publish(state, providers)
        case .publishSkews(let skews): present?.publishSkews(skews)
        case .notifySessions:
            runner.start {
                await self.present?.notifySessions()
                return .sessionsNotified
            }
        }
    }
}

extension Probe {
    fileprivate func reading(by transport: any HTTPTransport) async -> Reachability {
        // A redirect to another host is a response, too. Over HTTPS it is the provider's own.
        var request = request
        request.acceptsRedirects = true
        do throws(TransportError) {
            return reading(try await transport.send(request))
        } catch {
            return reading(error)
        }
    }
}
