import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A network machine on a table: events in, actions out, and a clock that only the test turns.
struct NetworkBench {
    static let secure = origin("https://api.example.org")
    static let plain = origin("http://api.example.net")
    static let own = origin("http://127.0.0.1:8080")

    private(set) var machine = NetworkMachine()
    private(set) var elapsed = Duration.zero
    private(set) var actions: [NetworkAction] = []
    /// What was published last.
    private(set) var picture: (state: NetworkState, origins: [Origin: String])?
    private(set) var wakeAt: BootInstant?
    private(set) var replies: [CallerID: Clearance] = [:]

    /// A machine that is online, with providers that have not responded yet.
    init(_ origins: Origin..., reach: NetworkReading.Reach = .internet, monitor: NetworkState = .online) {
        send(.reading(NetworkReading(reach: reach, monitor: monitor)))
        // Each at its own provider.
        send(.inUse(Dictionary(uniqueKeysWithValues: origins.map { ($0.text, [Probe($0)]) })))
    }

    static func origin(_ url: String) -> Origin {
        guard let origin = Origin(of: url) else { preconditionFailure("a valid origin is refused") }
        return origin
    }

    mutating func send(_ event: NetworkEvent) {
        let turn = machine.handle(event, at: ManualClock.moment(elapsed))
        actions += turn.actions
        for (caller, reply) in turn.replies { replies[caller] = reply }
        wakeAt = turn.wakeUp
        for case .publish(let state, let words) in turn.actions {
            picture = (state, Dictionary(uniqueKeysWithValues: words.map { (Self.origin($0.key), $0.value) }))
        }
    }

    /// Another network: other addresses, another gateway.
    mutating func roam(_ reach: NetworkReading.Reach = .internet, monitor: NetworkState = .online, move: Bool = true) {
        let old = machine.reading
        send(
            .reading(
                NetworkReading(
                    reach: reach, monitor: monitor, generation: old.generation + 1, move: old.move + (move ? 1 : 0))))
    }

    /// The results of the probes in progress.
    mutating func answer(_ word: Reachability, for origin: Origin) throws {
        let round = try #require(probes(of: origin).last)
        send(.probed(origin, round: round, word))
    }

    /// Goes to the next deadline that the machine asked for.
    mutating func sleepUntilWake() throws -> Duration {
        let deadline = try #require(wakeAt)
        elapsed = max(elapsed, deadline - ManualClock.moment(.zero).boot)
        send(.wake)
        return elapsed
    }

    mutating func advance(_ duration: Duration) {
        elapsed += duration
        send(.wake)
    }

    mutating func forgetActions() { actions = [] }

    /// The rounds in which an origin was probed.
    func probes(of origin: Origin) -> [Int] {
        actions.compactMap { action in
            if case .probe(let probe, let round) = action, probe.origin == origin { round } else { nil }
        }
    }

    var drops: [Bool] {
        actions.compactMap { if case .closeIdleConnections(let abandoning) = $0 { abandoning } else { nil } }
    }
}
