package import AuthWire

/// Follows the machine's network and sleep, and carries out what ``NetworkMachine`` decides.
///
/// Invariant: the machine is touched only between two awaits, so each event meets a settled state.
package actor NetworkKeeper {
    /// What the rest of the agent does when something changes.
    package struct Reactions: Sendable {
        /// The network as others may see it.
        package var publish: @Sendable (_ state: NetworkState, _ providers: [String: String]) -> Void
        /// Providers whose clocks are so far ahead of ours, or behind it, that people are told.
        package var publishSkews: @Sendable (_ providers: [String: Duration]) -> Void
        /// Sessions are to be told what ``NetworkKeeper/news(of:)`` are; never called twice at once.
        package var tell: @Sendable () async -> Void
        /// The machine is about to sleep: what is unwritten is to be written, within ``NetworkKeeper/longestHold``.
        package var prepareForSleep: @Sendable () async -> Void
        /// The wall clock was set.
        package var clockSet: @Sendable () async -> Void
    }

    /// logind waits 5 s by default (logind.conf(5), InhibitDelayMaxSec).
    package static let longestHold = Duration.seconds(3)

    private enum Due {
        case probes
    }

    private let watch: any NetworkWatch
    private let sleep: any SleepWatch
    private let transport: any HTTPTransport
    nonisolated let clock: any SystemClock
    private let workshop = Workshop()
    /// One deadline for all origins: the machine knows which are due.
    private let alarms: Alarms<Due>
    private let news: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    private var machine = NetworkMachine()
    private var reactions: Reactions?
    /// Of each provider with a session: where it is.
    private var uses: [String: Set<ProviderOrigin>] = [:]
    private var probes: [ProviderOrigin: Probe] = [:]
    private var waiting: [ProviderOrigin: [OneShot<Void>]] = [:]
    /// Of the latest answer to what the network is like.
    private var newsVersion: UInt64 = 0
    private var hasEnded = false
    private var skews: [ProviderOrigin: ClockSkew] = [:]

    package init(
        watch: any NetworkWatch, sleep: any SleepWatch, transport: any HTTPTransport, clock: any SystemClock
    ) {
        self.watch = watch
        self.sleep = sleep
        self.transport = transport
        self.clock = clock
        alarms = Alarms(clock: clock)
        (news, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Follows until it is cancelled.
    package func run(_ reactions: Reactions) async {
        self.reactions = reactions
        await withDiscardingTaskGroup { [watch, sleep, alarms, workshop, news] group in
            group.addTask { await workshop.run() }
            group.addTask { await alarms.run { _ in await self.handle(.wake) } }
            group.addTask {
                for await reading in watch.readings() { await self.handle(.reading(reading)) }
            }
            group.addTask {
                for await event in sleep.events() { await self.take(event) }
            }
            group.addTask {
                for await _ in news { await reactions.tell() }
            }
        }
        self.reactions = nil
        hasEnded = true
        for wait in waiting.values.joined() { wait.send(()) }
        waiting = [:]
    }

    /// The providers that sessions are at now, each with what asks it.
    package func use(_ providers: [String: Set<Probe>]) {
        uses = providers.mapValues { Set($0.map(\.origin)) }
        probes = [:]
        for probe in providers.values.joined() { probes[probe.origin] = probe }
        skews = skews.filter { probes[$0.key] != nil }
        handle(.inUse(Set(probes.keys)))
        tellSkews()
    }

    /// What the network is like for that origin, to be taken to whom it concerns. Answers may overtake each other on their
    /// way: the version tells which one was given last.
    package func news(of origin: ProviderOrigin?) -> NetworkNews {
        newsVersion += 1
        return NetworkNews(state: origin.map(machine.state) ?? machine.picture.state, version: newsVersion)
    }

    /// Returns when it is known whether a call may go there; a probe takes ``Probe/limit`` at most.
    /// - Throws: ``TransportError/cancelled`` if the task is cancelled, or the agent is stopping.
    package func clearance(for origin: ProviderOrigin) async throws(TransportError) -> Clearance {
        while !hasEnded {
            handle(.wanted(origin))
            let clearance = machine.clearance(for: origin)
            guard clearance == .wait, reactions != nil else { return clearance }
            let wait = OneShot<Void>()
            waiting[origin, default: []].append(wait)
            guard await wait.value() != nil else {
                waiting[origin]?.removeAll { $0 === wait }
                throw .cancelled
            }
        }
        throw .cancelled
    }

    func heard(_ word: Reachability, from origin: ProviderOrigin, round: Int) {
        handle(.heard(origin, round: round, word))
    }

    /// How far the clock that this answer came from is ahead of ours, by it or by an earlier one.
    func skew(of reply: HTTPReply, from origin: ProviderOrigin, sent: Moment) -> Duration {
        let now = clock.now()
        if let skew = ClockSkew(reply, sent: sent, received: now) {
            skews[origin] = skew
            tellSkews()
        }
        return skews[origin]?.value(at: now) ?? .zero
    }

    /// The same of a place that is to be asked; zero where nothing is known of its clock.
    func skew(of origin: ProviderOrigin) -> Duration { skews[origin]?.value(at: clock.now()) ?? .zero }

    private func tellSkews() {
        let now = clock.now()
        reactions?.publishSkews(
            uses.compactMapValues { origins in
                origins.compactMap { skews[$0]?.worthTelling(at: now) }.max { abs($0.seconds) < abs($1.seconds) }
            })
    }

    // MARK: Doing

    private func handle(_ event: NetworkEvent) {
        for action in machine.handle(event, at: clock.now()) {
            switch action {
            case .dropConnections(let abandoning): drop(abandoning: abandoning)
            case .probe(let origin, let round): probe(origin, round)
            case .publish(let picture): reactions?.publish(picture.state, words(picture))
            case .tell: bell.yield()
            case .wakeAt(let deadline): alarms.set(deadline, for: .probes)
            }
        }
        for origin in waiting.keys where machine.clearance(for: origin) != .wait || !machine.isProbing(origin) {
            for wait in waiting.removeValue(forKey: origin) ?? [] { wait.send(()) }
        }
    }

    private func drop(abandoning: Bool) {
        workshop.order { [transport] in
            if abandoning { await transport.abandonConnections() } else { await transport.dropConnections() }
        }
    }

    private func probe(_ origin: ProviderOrigin, _ round: Int) {
        let probe = probes[origin] ?? Probe(origin)
        workshop.order { [transport] in
            let word: Reachability
            do throws(TransportError) {
                word = probe.reading(try await transport.send(probe.request))
            } catch {
                word = probe.reading(error)
            }
            await self.handle(.probed(origin, round: round, word))
        }
    }

    /// A provider at several places is as well reached as the worst of them.
    private func words(_ picture: NetworkPicture) -> [String: String] {
        uses.compactMapValues { origins in
            let words = origins.compactMap { picture.origins[$0] }
            return words.sorted().first { $0 != NetworkStatus.reachable } ?? words.first
        }
    }

    // MARK: Sleep

    private func take(_ event: SleepEvent) async {
        switch event {
        case .preparing(let hold):
            handle(.goingToSleep)
            await prepare()
            hold.letGo()
        case .resumed: handle(.resumed)
        case .clockSet:
            tellSkews()
            await reactions?.clockSet()
        }
    }

    private func prepare() async {
        guard let reactions else { return }
        let end = clock.now().boot + Self.longestHold
        await withTaskGroup(of: Void.self) { [clock] group in
            group.addTask { await reactions.prepareForSleep() }
            group.addTask { try? await clock.sleep(until: end) }
            await group.next()
            group.cancelAll()
        }
    }
}
