package import AuthModel
package import AuthWire

/// Decides the state of the network, which origins are probed, and what may be sent where; it never waits, logs or reads a
/// clock.
///
/// Invariants, whatever the order of events:
/// 1. After a change of the network, only probes go to an origin until there was a response, or a probe has failed.
/// 2. Only probes go to an origin while another host answers for it.
/// 3. While no route leads out of the machine, nothing is sent and nothing is waited for.
/// 4. Results of an earlier round do not count in this one.
package struct NetworkMachine: Machine {
    /// An origin and its results in this round.
    struct ProbedOrigin {
        var word: Reachability?
        var isProbing = false
        var tries = 0
        var lastProbe: BootInstant?
        var nextProbe: BootInstant?
    }

    package private(set) var reading = NetworkReading(reach: .internet, generation: -1)
    private(set) var origins: [Origin: ProbedOrigin] = [:]
    /// Grows with each change after which nothing is known.
    private var round = 0
    private var isGoingToSleep = false
    /// After a resume: until then unreachable origins are waited for.
    private var wakingUntil: BootInstant?
    private var providers: [String: Set<Origin>] = [:]
    /// The probes of the origins in use.
    private var probes: [Origin: Probe] = [:]
    private var waiting: [(caller: CallerID, origin: Origin)] = []
    private var skews: [Origin: ClockSkew] = [:]
    private var publishedState: NetworkState?
    /// By origin: `reachable`, or the kind of the error.
    private var publishedOrigins: [Origin: String] = [:]
    private var publishedProviders: [String: String] = [:]
    private var publishedSkews: [String: Duration] = [:]
    private var notified: [Origin: NetworkState] = [:]
    /// The sessions are being notified.
    private var isNotifying = false
    private var isNotifyingAgain = false
    /// The version of this machine's state: grows with each event.
    private var version: UInt64 = 1

    package init() {}

    package static let wake = NetworkEvent.wake
    package static func callerGone(_ caller: CallerID) -> NetworkEvent { .callerGone(caller) }

    package mutating func handle(_ event: NetworkEvent, in turn: inout Turn<NetworkAction, Clearance>) {
        version += 1
        switch event {
        case .began: (publishedState, publishedSkews) = (nil, [:])
        case .reading(let new): applyReading(new, &turn)
        case .inUse(let providers): use(providers)
        case .clearanceRequested(let caller, let origin): waiting.append((caller, origin))
        case .callerGone(let caller): waiting.removeAll { $0.caller == caller }
        case .probed(let origin, let round, let word):
            guard round == self.round else { break }
            origins[origin]?.isProbing = false
            origins[origin]?.word = word
        case .callEnded(let origin, let round, let word):
            guard round == self.round else { break }
            callEnded(origin, word, turn.now)
        case .skewMeasured(let origin, let skew): skews[origin] = skew
        case .sessionsNotified:
            isNotifying = isNotifyingAgain
            isNotifyingAgain = false
            if isNotifying { turn.act(.notifySessions) }
        case .sleeping: isGoingToSleep = true
        case .resumed:
            isGoingToSleep = false
            wakingUntil = turn.now.boot + ProbePolicy.wakingTime
            turn.act(.closeIdleConnections(abandoning: false))
            beginRound()
        case .clockSet, .wake: break
        }
        settle(&turn)
    }

    // MARK: Queries

    /// The network for the sessions of this origin. ``NetworkState/limited`` defers renewals without a waiting caller.
    package func state(of origin: Origin) -> NetworkState {
        if origin.isLoopback { return isGoingToSleep ? .limited : .online }
        guard reading.reach != .offline else { return .offline }
        let known = origins[origin]
        if isGoingToSleep { return .limited }
        switch known?.word {
        case nil: return reading.monitor == .portal ? .portal : .limited
        case .page: return .portal
        case .foreignCertificate: return isIntercepted ? .portal : .online
        case .reached(let isProven): return reading.monitor == .portal && !isProven ? .portal : .online
        case .unreached:
            if reading.monitor == .portal { return .portal }
            return wakingUntil != nil || !isWhole ? .limited : .online
        }
    }

    /// The same with its version; without an origin, the network as a whole.
    package func news(of origin: Origin?) -> VersionedNetworkState {
        VersionedNetworkState(state: origin.map(state) ?? state, version: version)
    }

    /// `nil`: nothing is known of that origin yet.
    package func clearance(for origin: Origin) -> Clearance? {
        if origin.isLoopback { return .go(round: round) }
        guard reading.reach != .offline else { return .blocked(.offline) }
        guard let known = origins[origin], known.word != nil else { return nil }
        return state(of: origin) == .portal ? .blocked(.portal) : .go(round: round)
    }

    /// How far the clock of that origin is ahead of ours; zero if it is unknown.
    package func skew(of origin: Origin, at now: Moment) -> Duration { skews[origin]?.value(at: now) ?? .zero }

    private var state: NetworkState {
        switch reading.reach {
        case .offline: return .offline
        case .linkLocal: return isIntercepted ? .portal : .limited
        case .internet: break
        }
        let results = outside
        if isIntercepted || (reading.monitor == .portal && !results.contains(.reached(isProven: true))) {
            return .portal
        }
        return isWhole || results.contains(where: \.isReached) ? .online : .limited
    }

    /// The whole Internet is reachable, according to the kernel and the monitor.
    private var isWhole: Bool { reading.reach == .internet && reading.monitor == .online }

    /// Another host answers for the providers, and none of them does: if it were one, it would be misconfigured.
    private var isIntercepted: Bool {
        outside.contains(where: \.looksIntercepted) && !outside.contains(where: \.isReached)
    }

    /// The results of this round from other machines.
    private var outside: [Reachability] {
        origins.compactMap { $0.key.isLoopback ? nil : $0.value.word }
    }

    private func word(_ known: ProbedOrigin) -> String? {
        switch known.word {
        case nil: nil
        case .reached: NetworkStatus.reachable
        case .page: ErrorKind.captivePortal.rawValue
        case .foreignCertificate: (isIntercepted ? ErrorKind.captivePortal : .providerUnreachable).rawValue
        case .unreached(let kind, _): kind.rawValue
        }
    }

    // MARK: Events

    private mutating func applyReading(_ new: NetworkReading, _ turn: inout Turn<NetworkAction, Clearance>) {
        let old = reading
        guard new != old else { return }
        reading = new
        if old.generation >= 0, new.generation != old.generation {
            turn.act(.closeIdleConnections(abandoning: new.move != old.move))
        }
        beginRound()
    }

    private mutating func beginRound() {
        round += 1
        for origin in origins.keys { origins[origin] = probes[origin] == nil ? nil : ProbedOrigin() }
    }

    private mutating func use(_ all: [String: Set<Probe>]) {
        providers = all.mapValues { Set($0.map(\.origin)) }
        probes = [:]
        for probe in all.values.joined() { probes[probe.origin] = probe }
        skews = skews.filter { probes[$0.key] != nil }
        for origin in probes.keys { add(origin) }
        for origin in origins.keys where probes[origin] == nil && origins[origin]?.isProbing == false {
            origins[origin] = nil
        }
    }

    private mutating func add(_ origin: Origin) {
        if origins[origin] == nil { origins[origin] = ProbedOrigin() }
    }

    private mutating func callEnded(_ origin: Origin, _ word: Reachability, _ now: Moment) {
        guard let known = origins[origin] else { return }
        guard word.looksIntercepted, known.word?.isReached == true else {
            origins[origin]?.word = word
            return
        }
        // A page may be the provider's own mistake: a probe decides.
        if known.lastProbe.map({ now.boot - $0 >= ProbePolicy.minInterval }) ?? true {
            origins[origin]?.nextProbe = now.boot
        }
    }

    // MARK: Consequences

    private mutating func settle(_ turn: inout Turn<NetworkAction, Clearance>) {
        let now = turn.now
        if let end = wakingUntil, end <= now.boot || isAllReached { wakingUntil = nil }
        for (_, origin) in waiting { add(origin) }
        for origin in origins.keys.sorted(by: { $0.text < $1.text }) {
            plan(origin, now)
            guard let next = origins[origin]?.nextProbe, next <= now.boot, mayProbe(origin) else { continue }
            origins[origin]?.nextProbe = nil
            origins[origin]?.isProbing = true
            origins[origin]?.tries += 1
            origins[origin]?.lastProbe = now.boot
            turn.act(.probe(probes[origin] ?? Probe(origin), round: round))
        }
        publish(&turn)
        answerCallers(&turn)
        turn.wakeUp = nextWake
    }

    private mutating func answerCallers(_ turn: inout Turn<NetworkAction, Clearance>) {
        for (caller, origin) in waiting {
            if let clearance = clearance(for: origin) { turn.reply(clearance, to: caller) }
        }
        waiting.removeAll { [self] in clearance(for: $0.origin) != nil }
    }

    private func mayProbe(_ origin: Origin) -> Bool {
        reading.reach != .offline && !isGoingToSleep && origins[origin]?.isProbing == false
    }

    private var isAllReached: Bool {
        origins.allSatisfy { $0.key.isLoopback || $0.value.word?.isReached == true }
    }

    /// Plans a probe of the origin, unless there is a plan or nothing to learn.
    private mutating func plan(_ origin: Origin, _ now: Moment) {
        guard let known = origins[origin], !known.isProbing else { return }
        guard let cause = reason(known, origin) else {
            if known.word != nil, known.nextProbe.map({ $0 > now.boot }) ?? false { origins[origin]?.nextProbe = nil }
            return
        }
        guard known.nextProbe == nil else { return }
        guard known.word != nil, let last = known.lastProbe else {
            origins[origin]?.nextProbe = now.boot
            return
        }
        origins[origin]?.nextProbe = max(now.boot, last + ProbePolicy.pause(cause, tries: known.tries))
    }

    /// Why an origin is to be probed now or later; `nil`: real calls will show its state.
    private func reason(_ known: ProbedOrigin, _ origin: Origin) -> ProbePolicy.Reason? {
        if origin.isLoopback { return nil }
        guard let word = known.word else { return .waking }
        if state(of: origin) == .portal { return .portal }
        // A missing route is not checked again: the next reading reports it.
        if case .unreached(.offline, _) = word { return wakingUntil != nil ? .waking : nil }
        guard !word.isReached else { return nil }
        if wakingUntil != nil { return .waking }
        return isWhole ? nil : .limited
    }

    private mutating func publish(_ turn: inout Turn<NetworkAction, Clearance>) {
        let (state, words) = (state, origins.compactMapValues(word))
        let providerStates = providerStates(words)
        if state != publishedState || words != publishedOrigins || providerStates != publishedProviders {
            (publishedState, publishedOrigins, publishedProviders) = (state, words, providerStates)
            turn.act(.publish(state, providers: providerStates))
        }
        let skews = skewsToReport(turn.now)
        if skews != publishedSkews {
            publishedSkews = skews
            turn.act(.publishSkews(skews))
        }
        let states = Dictionary(uniqueKeysWithValues: probes.keys.map { ($0, self.state(of: $0)) })
        guard states != notified else { return }
        notified = states
        guard !isNotifying else {
            isNotifyingAgain = true
            return
        }
        isNotifying = true
        turn.act(.notifySessions)
    }

    /// A provider with several origins is in the state of the worst of them.
    private func providerStates(_ words: [Origin: String]) -> [String: String] {
        providers.compactMapValues { origins in
            let states = origins.compactMap { words[$0] }
            return states.sorted().first { $0 != NetworkStatus.reachable } ?? states.first
        }
    }

    private func skewsToReport(_ now: Moment) -> [String: Duration] {
        providers.compactMapValues { origins in
            origins.compactMap { skews[$0]?.reportable(at: now) }.max { abs($0.seconds) < abs($1.seconds) }
        }
    }

    private var nextWake: BootInstant? {
        guard reading.reach != .offline, !isGoingToSleep else { return nil }
        let probes = origins.values.filter { !$0.isProbing }.compactMap(\.nextProbe)
        return (probes + (wakingUntil.map { [$0] } ?? [])).min()
    }
}
