package import AuthWire

/// Decides what the network is like, which origins are to be probed, and what may be sent where; it never waits, logs
/// or reads a clock.
///
/// Invariants, whatever the order of events:
/// 1. After a change of the network nothing but a probe goes to an origin before somebody has answered there, or a
///    probe has failed.
/// 2. Nothing but probes goes to an origin while somebody else answers in its stead.
/// 3. While nothing leads out of the machine nothing is sent and nothing is waited for.
/// 4. What was learnt in an earlier round says nothing of this one.
package struct NetworkMachine: Sendable {
    /// An origin, and what was heard of it in this round.
    struct Known {
        var word: Reachability?
        var isProbing = false
        var tries = 0
        var lastProbe: BootInstant?
        var nextProbe: BootInstant?
    }

    package private(set) var reading = NetworkReading(reach: .everywhere, generation: -1)
    private(set) var origins: [ProviderOrigin: Known] = [:]
    /// Grows with each change after which nothing is known.
    private var round = 0
    private var isGoingToSleep = false
    /// After a resume: until then an origin that is not reached is waited for.
    private var wakingUntil: BootInstant?
    private var inUse: Set<ProviderOrigin> = []
    private var published: NetworkPicture?
    private var told: [ProviderOrigin: NetworkState] = [:]
    private var wake: BootInstant?

    package init() {}

    package mutating func handle(_ event: NetworkEvent, at now: Moment) -> [NetworkAction] {
        var actions: [NetworkAction] = []
        switch event {
        case .reading(let new): take(new, &actions)
        case .inUse(let all): use(all)
        case .wanted(let origin): add(origin)
        case .probed(let origin, let round, let word):
            guard round == self.round else { break }
            origins[origin]?.isProbing = false
            origins[origin]?.word = word
        case .heard(let origin, let round, let word):
            guard round == self.round else { break }
            heard(origin, word, now)
        case .goingToSleep: isGoingToSleep = true
        case .resumed:
            isGoingToSleep = false
            wakingUntil = now.boot + ProbePolicy.wakingTime
            actions.append(.dropConnections(abandoning: false))
            beginRound()
        case .wake: break
        }
        settle(now, &actions)
        return actions
    }

    // MARK: What is asked of it

    /// The network as far as this origin is concerned: what its sessions are to go by. ``NetworkState/limited`` keeps
    /// renewals back that nobody waits for.
    package func state(of origin: ProviderOrigin) -> NetworkState {
        if origin.isLoopback { return isGoingToSleep ? .limited : .online }
        guard reading.reach != .nothing else { return .offline }
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

    package func clearance(for origin: ProviderOrigin) -> Clearance {
        if origin.isLoopback { return .go(round: round) }
        guard reading.reach != .nothing else { return .no(.offline) }
        guard let known = origins[origin], known.word != nil else { return .wait }
        return state(of: origin) == .portal ? .no(.portal) : .go(round: round)
    }

    func isProbing(_ origin: ProviderOrigin) -> Bool { origins[origin]?.isProbing == true }

    package var picture: NetworkPicture {
        NetworkPicture(state: state, origins: origins.compactMapValues(word))
    }

    private var state: NetworkState {
        switch reading.reach {
        case .nothing: return .offline
        case .neighbourhood: return isIntercepted ? .portal : .limited
        case .everywhere: break
        }
        let words = outside
        if isIntercepted || (reading.monitor == .portal && !words.contains(.reached(isProven: true))) { return .portal }
        return isWhole || words.contains(where: \.isReached) ? .online : .limited
    }

    /// All of the Internet is there, as far as the kernel and the monitor say.
    private var isWhole: Bool { reading.reach == .everywhere && reading.monitor == .online }

    /// Somebody answers for the providers, and none of them does: one alone would be set up wrongly.
    private var isIntercepted: Bool {
        outside.contains(where: \.looksIntercepted) && !outside.contains(where: \.isReached)
    }

    /// What was heard in this round from other machines.
    private var outside: [Reachability] {
        origins.compactMap { $0.key.isLoopback ? nil : $0.value.word }
    }

    private func word(_ known: Known) -> String? {
        switch known.word {
        case nil: nil
        case .reached: NetworkStatus.reachable
        case .page: ErrorKind.captivePortal.rawValue
        case .foreignCertificate: (isIntercepted ? ErrorKind.captivePortal : .providerUnreachable).rawValue
        case .unreached(let kind, _): kind.rawValue
        }
    }

    // MARK: What happens

    private mutating func take(_ new: NetworkReading, _ actions: inout [NetworkAction]) {
        let old = reading
        guard new != old else { return }
        reading = new
        if old.generation >= 0, new.generation != old.generation {
            actions.append(.dropConnections(abandoning: new.move != old.move))
        }
        beginRound()
    }

    private mutating func beginRound() {
        round += 1
        for origin in origins.keys { origins[origin] = inUse.contains(origin) ? Known() : nil }
    }

    private mutating func use(_ all: Set<ProviderOrigin>) {
        inUse = all
        for origin in all { add(origin) }
        for origin in origins.keys where !all.contains(origin) && origins[origin]?.isProbing == false {
            origins[origin] = nil
        }
    }

    private mutating func add(_ origin: ProviderOrigin) {
        if origins[origin] == nil { origins[origin] = Known() }
    }

    private mutating func heard(_ origin: ProviderOrigin, _ word: Reachability, _ now: Moment) {
        guard let known = origins[origin] else { return }
        guard word.looksIntercepted, known.word?.isReached == true else {
            origins[origin]?.word = word
            return
        }
        // A page in place of an answer may be the provider's own mistake: a probe tells.
        if known.lastProbe.map({ now.boot - $0 >= ProbePolicy.leastBetween }) ?? true {
            origins[origin]?.nextProbe = now.boot
        }
    }

    // MARK: What follows

    private mutating func settle(_ now: Moment, _ actions: inout [NetworkAction]) {
        if let end = wakingUntil, end <= now.boot || isAllReached { wakingUntil = nil }
        for origin in origins.keys.sorted(by: { $0.text < $1.text }) {
            plan(origin, now)
            guard let next = origins[origin]?.nextProbe, next <= now.boot, mayProbe(origin) else { continue }
            origins[origin]?.nextProbe = nil
            origins[origin]?.isProbing = true
            origins[origin]?.tries += 1
            origins[origin]?.lastProbe = now.boot
            actions.append(.probe(origin, round: round))
        }
        publish(&actions)
        let next = nextWake
        if next != wake {
            wake = next
            actions.append(.wakeAt(next))
        }
    }

    private func mayProbe(_ origin: ProviderOrigin) -> Bool {
        reading.reach != .nothing && !isGoingToSleep && origins[origin]?.isProbing == false
    }

    private var isAllReached: Bool {
        origins.allSatisfy { $0.key.isLoopback || $0.value.word?.isReached == true }
    }

    /// Sets when the origin is to be probed, unless that is set already or nothing is to be learnt.
    private mutating func plan(_ origin: ProviderOrigin, _ now: Moment) {
        guard let known = origins[origin], !known.isProbing else { return }
        guard let why = reason(known, origin) else {
            if known.word != nil, known.nextProbe.map({ $0 > now.boot }) ?? false { origins[origin]?.nextProbe = nil }
            return
        }
        guard known.nextProbe == nil else { return }
        guard known.word != nil, let last = known.lastProbe else {
            origins[origin]?.nextProbe = now.boot
            return
        }
        origins[origin]?.nextProbe = max(now.boot, last + ProbePolicy.pause(why, tries: known.tries))
    }

    /// Why an origin is to be probed now or later; `nil`: real calls will tell.
    private func reason(_ known: Known, _ origin: ProviderOrigin) -> ProbePolicy.Why? {
        if origin.isLoopback { return nil }
        guard let word = known.word else { return .waking }
        if state(of: origin) == .portal { return .portal }
        // A route that is not there needs no second look: the next reading tells of it.
        if case .unreached(.offline, _) = word { return wakingUntil != nil ? .waking : nil }
        guard !word.isReached else { return nil }
        if wakingUntil != nil { return .waking }
        return isWhole ? nil : .limited
    }

    private mutating func publish(_ actions: inout [NetworkAction]) {
        let picture = picture
        if picture != published {
            published = picture
            actions.append(.publish(picture))
        }
        let states = Dictionary(uniqueKeysWithValues: inUse.map { ($0, state(of: $0)) })
        if states != told {
            told = states
            actions.append(.tell)
        }
    }

    private var nextWake: BootInstant? {
        guard reading.reach != .nothing, !isGoingToSleep else { return nil }
        let probes = origins.values.filter { !$0.isProbing }.compactMap(\.nextProbe)
        return (probes + (wakingUntil.map { [$0] } ?? [])).min()
    }
}
