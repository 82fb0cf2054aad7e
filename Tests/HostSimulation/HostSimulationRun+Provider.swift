import AuthModel
import AuthWire
import Simulation

/// A renewal that a process has sent.
struct ProviderRequest {
    let process: Int
    let account: Int
    let sentAt: Duration
}

/// The last refresh token that the provider has replaced.
struct Commit {
    let process: Int
    let host: Int
    let sentAt: Duration
    let at: Duration
    /// The new tokens.
    let tokens: WrittenTokens
    /// When the process has received them.
    var answeredAt: Duration?
    /// The new tokens are in etcd.
    var isWritten = false
    /// The response was lost.
    var isUnanswered = false

    var isAnswered: Bool { answeredAt != nil }
}

extension HostSimulationRun {
    /// The account whose tokens the session must have; `nil`: unknown.
    var account: Int? { if case .signedIn(let account) = expected { account } else { nil } }

    /// How long a host waits for a response, as the docs say.
    private static let requestLimit = Duration.seconds(30)

    func callProvider(_ number: Int, _ request: HTTPRequest, _ answer: @escaping Answer) {
        let process = processes[number]
        guard process.life.isAlive else { return answer(.failure(.cancelled)) }
        let json = try? JSON(parsing: request.body?.revealBytes() ?? [])
        guard let refresh = json?["refresh"]?.stringValue, let parts = RotatingProvider.parts(of: refresh) else {
            return answer(.success(HTTPResponse(status: 400, headers: [], body: [])))
        }
        checkAlone(process, parts.account)
        coverage.renewals += 1
        note("    \(process.host): sends \(refresh)")
        let id = nextNumber()
        requests[id] = ProviderRequest(process: number, account: parts.account, sentAt: time.now)
        let limit = Self.requestLimit
        time.after(limit) { [self] in
            guard requests.removeValue(forKey: id) != nil else { return }
            if let known = commit, known.process == number, !known.isAnswered { commit?.isUnanswered = true }
            answer(.failure(.timedOut(host: "provider", after: limit)))
        }
        var way = latency()
        if case .slow(let duration) = behaviour { way += duration / 2 }
        time.after(way) { [self] in
            guard requests[id] != nil else { return }
            if behaviour == .down {
                requests[id] = nil
                return answer(.failure(.connectionRefused(host: "provider")))
            }
            reach(id, refresh, of: process, way, answer)
        }
    }

    private func reach(
        _ id: Int, _ refresh: String, of process: SimulatedProcess, _ way: Duration, _ answer: @escaping Answer
    ) {
        checkReuse(refresh, by: process)
        let outcome = provider.renew(refresh, at: time.now)
        note("    \(process.host): the provider → \(outcome)")
        let response: HTTPResponse
        switch outcome {
        case .granted(let access, let renewed):
            tokenTimes[access] = (time.now, (requests[id]?.sentAt ?? time.now) + schedule.life)
            if schedule.rotates, let (account, number) = RotatingProvider.parts(of: renewed) {
                commit = Commit(
                    process: process.number, host: process.host, sentAt: requests[id]?.sentAt ?? time.now, at: time.now,
                    tokens: WrittenTokens(account: account, number: number), isUnanswered: behaviour == .losesAnswers)
            }
            let body: JSON = [
                "access": .string(access), "refresh": .string(renewed),
                "expires_in": .integer(schedule.life.components.seconds),
            ]
            response = Self.json(200, body)
            if fault == .endsSessions { provider.end(refresh) }
        case .refused: response = Self.json(401, ["message": "the refresh token is not good"])
        }
        guard behaviour != .losesAnswers else { return }
        time.after(way) { [self] in
            if fault == .losesTokens, requests[id] != nil { commit?.answeredAt = time.now }
            guard fault != .losesTokens, requests.removeValue(forKey: id) != nil, process.life.isAlive else { return }
            if commit?.process == process.number { commit?.answeredAt = time.now }
            answer(.success(response))
        }
    }

    private static func json(_ status: Int, _ body: JSON) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: body.serialized())
    }

    // MARK: Rules

    /// A request is in progress until its response arrives or its time limit ends, even if its process was killed. If the
    /// refresh token stays, hosts without etcd renew independently.
    private func checkAlone(_ process: SimulatedProcess, _ account: Int) {
        guard schedule.rotates, !isUnaware(process) else { return }
        let others = requests.sorted { $0.key < $1.key }.map(\.value)
        for request in others where request.process != process.number && request.account == account {
            let other = processes[request.process]
            report(
                .alone,
                "host \(process.host) sends a refresh token, and host \(other.host) did so at \(request.sentAt)")
        }
    }

    /// Checks that the provider receives a used token, even one that it still accepts, only if the token that replaced it did
    /// not reach etcd.
    private func checkReuse(_ refresh: String, by process: SimulatedProcess) {
        guard let parts = RotatingProvider.parts(of: refresh), parts.account == account,
            provider.hasReplaced(refresh), !provider.hasEnded(parts.account)
        else { return }
        coverage.reuses += 1
        guard isLossExcused || isUnaware(process) || commit.map(isInterrupted) == true else {
            let at = commit.map { "\($0.at)" } ?? "no time"
            return report(.reuse, "host \(process.host) sends the used \(refresh); it was replaced at \(at)")
        }
        if !provider.accepts(refresh, at: time.now) { isLossExcused = true }
    }

    /// Whether a fault kept the process that renewed the tokens from receiving or writing them. As long as it runs and is a
    /// member, it writes them at the first opportunity; after a restore, other hosts may not wait for that. A fault after the
    /// time for writing does not count.
    func isInterrupted(_ commit: Commit) -> Bool {
        guard !commit.isWritten else { return false }
        guard !commit.isUnanswered else { return true }
        let (host, answered) = (hosts[commit.host], commit.answeredAt ?? time.now)
        guard host.wasInterrupted(from: commit.sentAt, to: answered + Self.writing) else { return false }
        guard restoreCount == 0, processes[commit.process].life.isAlive else { return true }
        return !host.wasWell(for: Self.writing, from: answered, to: min(host.removedAt ?? time.now, time.now))
    }
}
