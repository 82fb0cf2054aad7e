package import AuthModel
import AuthWire
import Synchronization

/// Requests to the members of one etcd cluster, through its JSON gateway.
///
/// Invariant: every call ends within its limit. A transaction may be carried out although its call fails, and a call
/// may send it twice; conditions make the second one harmless.
final class EtcdClient: Sendable {
    /// How long a caller is held up between two attempts.
    typealias Pause = @Sendable (Duration) async throws -> Void
    /// A clock that stands still while the machine sleeps.
    typealias Time = @Sendable () -> SuspendingClock.Instant

    private struct State {
        var ring: EndpointRing
        /// When a member last failed.
        var failedAt: SuspendingClock.Instant?
        var token: Secret?
        /// etcd has reported that it has no users.
        var hasNoUsers = false
    }

    let user: EtcdUser?
    let transport: any HTTPLiveTransport
    private let state: Mutex<State>
    private let note: @Sendable (ClusterFault) -> Void
    private let pause: Pause
    private let now: Time

    /// - Parameter note: receives faults that a call has recovered from.
    init(
        endpoints: [String], user: EtcdUser?, transport: any HTTPLiveTransport,
        note: @escaping @Sendable (ClusterFault) -> Void, pause: @escaping Pause, now: @escaping Time
    ) {
        self.user = user
        self.transport = transport
        self.note = note
        self.pause = pause
        self.now = now
        state = Mutex(State(ring: EndpointRing(endpoints)))
    }

    func closeIdleConnections() async { await transport.closeIdleConnections() }

    /// Sends a request to one member after another until one carries it out.
    /// - Parameter diagnoses: whether to find out, after a call without an answer, if any member responds.
    func call(
        _ request: EtcdRequest, within limit: Duration = EtcdLimits.call, diagnoses: Bool = true
    ) async throws(ClusterFault) -> JSON {
        let deadline = now() + limit
        var refused: Set<String> = []
        var last = ClusterFault.unreachable(reason: "no endpoint is configured")
        while let endpoint = state.withLock({ $0.ring.current }), refused.count < endpoints.count,
            now() < deadline, !Task.isCancelled
        {
            let time = min(EtcdLimits.attempt, now().duration(to: deadline))
            do throws(EtcdAttemptError) {
                return try await authorized(request, at: endpoint, within: time)
            } catch {
                last = error.fault
                switch error {
                case .transport(_, let isQuick):
                    // Another one is asked at once. One that does not respond at all is not asked again.
                    if isQuick { refused.insert(endpoint) }
                    failed(endpoint)
                case .refused(.faulty):
                    // It is not asked again either.
                    refused.insert(endpoint)
                    failed(endpoint)
                case .refused(.unavailable):
                    failed(endpoint)
                    do { try await pause(EtcdLimits.retryPause) } catch { break }
                case .refused, .fault: throw last
                }
            }
        }
        if Task.isCancelled { throw .unreachable(reason: "the call was cancelled") }
        if refused.count == endpoints.count || !diagnoses { throw last }
        throw await diagnosis(instead: last)
    }

    var endpoints: [String] { state.withLock { $0.ring.endpoints } }

    /// The member to use now; `nil` if none is configured.
    var endpoint: String? { state.withLock { $0.ring.current } }

    /// The next call uses another member.
    func failed(_ endpoint: String) {
        let now = now()
        state.withLock { state in
            state.ring.failed(endpoint)
            state.failedAt = now
        }
    }

    /// Chooses the member that is used first. If another one is in use because of a failure, it stays in use.
    /// - Parameter choice: as in ``EndpointRing/prefer(_:)``.
    func prefer(_ choice: UInt64) { state.withLock { $0.ring.prefer(choice) } }

    /// Some time after the last failure, this host uses its preferred member again if that has a leader. Otherwise all
    /// hosts would use the same one after all members were restarted, one after the other.
    func goBack() async {
        let (left, failedAt) = state.withLock { ($0.ring.left, $0.failedAt) }
        guard let left, failedAt.map({ now() - $0 >= EtcdLimits.goBack }) ?? true,
            let json = try? await attempt(.status, at: left, within: EtcdLimits.status, token: nil),
            EtcdStatus(json).hasLeader
        else { return }
        state.withLock { state in
            // Another one may have failed meanwhile.
            if state.failedAt == failedAt { state.ring.goBack() }
        }
    }

    // MARK: Users

    /// Sends it with a token, and once more with a new one if etcd no longer accepts the former.
    func authorized(
        _ request: EtcdRequest, at endpoint: String, within limit: Duration
    ) async throws(EtcdAttemptError) -> JSON {
        guard !request.isLocal else { return try await attempt(request, at: endpoint, within: limit, token: nil) }
        let former = try await token(at: endpoint, within: limit)
        do throws(EtcdAttemptError) {
            return try await attempt(request, at: endpoint, within: limit, token: former)
        } catch {
            guard case .refused(.tokenInvalid) = error, user != nil else { throw error }
        }
        note(.tokenExpired)
        forget(former)
        let token = try await token(at: endpoint, within: limit)
        return try await attempt(request, at: endpoint, within: limit, token: token)
    }

    /// The token, or a new one; `nil` without users.
    func token(at endpoint: String, within limit: Duration) async throws(EtcdAttemptError) -> Secret? {
        let (token, hasNoUsers) = state.withLock { ($0.token, $0.hasNoUsers) }
        guard token == nil, !hasNoUsers, let user else { return token }
        do throws(EtcdAttemptError) {
            let password: Secret
            do throws(StoreError) {
                password = try user.password()
            } catch {
                throw EtcdAttemptError.fault(.denied(reason: "the password cannot be read: \(error.reason)"))
            }
            let request = EtcdRequest.authenticate(user.name, password.reveal())
            let answer = try await attempt(request, at: endpoint, within: limit, token: nil)
            guard let text = answer["token"]?.stringValue, !text.isEmpty,
                text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw EtcdAttemptError.fault(.invalid(reason: "no token for user \(user.name)")) }
            let token = Secret(text)
            state.withLock { $0.token = token }
            return token
        } catch {
            guard case .refused(.hasNoUsers) = error else { throw error }
            state.withLock { $0.hasNoUsers = true }
            return nil
        }
    }

    /// The next request gets a new token, unless another one has got it already.
    func forget(_ token: Secret?) {
        state.withLock { state in
            if state.token == token { state.token = nil }
            state.hasNoUsers = false
        }
    }

    // MARK: One attempt

    func attempt(
        _ request: EtcdRequest, at endpoint: String, within limit: Duration, token: Secret?
    ) async throws(EtcdAttemptError) -> JSON {
        var message = prepared(request, at: endpoint, token: token)
        message.limit = limit
        let began = now()
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(message)
        } catch {
            // With a response that is too long, there may be others of a usable length.
            if case .tooLarge = error { throw .fault(.longResponse) }
            if case .timedOut = error { throw .transport(error, isQuick: false) }
            throw .transport(error, isQuick: now() - began < EtcdLimits.attempt / 2)
        }
        guard response.status == 200 else {
            throw .refused(EtcdRefusal(status: response.status, bytes: response.body))
        }
        guard let json = try? JSON(parsing: response.body, values: EtcdLimits.jsonValues) else {
            throw .refused(.faulty(reason: "a response that is not JSON"))
        }
        return json
    }

    func prepared(_ request: EtcdRequest, at endpoint: String, token: Secret?) -> HTTPRequest {
        var message = HTTPRequest(
            method: "POST", url: endpoint + "/v3/" + request.path,
            headers: [HTTPField("Content-Type", "application/json")],
            body: Secret(bytes: request.body.serialized()))
        if let token { message.headers.append(HTTPField("Authorization", token.reveal())) }
        message.largestReply = request.largestReply
        message.followsRedirects = false
        return message
    }

    // MARK: What is wrong

    /// After calls without an answer: whether members respond at all.
    private func diagnosis(instead fault: ClusterFault) async -> ClusterFault {
        for endpoint in endpoints {
            let answer = try? await attempt(.status, at: endpoint, within: EtcdLimits.status, token: nil)
            if answer != nil { return .noQuorum }
        }
        return fault
    }

    /// What a member knows; `nil` if none responds.
    func status() async -> EtcdStatus? {
        for endpoint in endpoints {
            if let json = try? await attempt(.status, at: endpoint, within: EtcdLimits.status, token: nil) {
                return EtcdStatus(json)
            }
        }
        return nil
    }
}

/// A user of etcd.
package struct EtcdUser: Sendable {
    let name: String
    /// Reads it each time: an administrator may change it.
    let password: @Sendable () throws(StoreError) -> Secret

    package init(name: String, password: @escaping @Sendable () throws(StoreError) -> Secret) {
        self.name = name
        self.password = password
    }
}

/// Why one attempt failed.
enum EtcdAttemptError: Error, Sendable {
    /// - Parameter isQuick: it failed at once, so waiting for this member is of no use.
    case transport(TransportError, isQuick: Bool)
    case refused(EtcdRefusal)
    case fault(ClusterFault)

    var fault: ClusterFault {
        switch self {
        case .transport(let error, _): .unreachable(reason: error.reason)
        case .refused(let refusal): refusal.fault
        case .fault(let fault): fault
        }
    }
}

extension TransportError {
    /// For messages.
    var reason: String {
        switch self {
        case .offline(let reason), .proxy(let reason), .badURL(let reason): reason
        case .nameNotResolved(let host): "the name \(host) is not known"
        case .connectionRefused(let host): "\(host) refused the connection"
        case .timedOut(let host, _): "\(host) did not respond in time"
        case .certificate(let host, let reason), .tls(let host, let reason), .connectionLost(let host, let reason):
            "\(host): \(reason)"
        case .tooLarge(let limit): "the response has more than \(limit) bytes"
        case .redirected: "it redirects to another address"
        case .portal: "the network requires a sign-in"
        case .cancelled: "the call was cancelled"
        }
    }
}

extension StoreError {
    /// For messages about something else than a store.
    var reason: String {
        switch self {
        case .missing(let reason), .denied(let reason), .failed(let reason): reason
        case .cluster(let fault): fault.message
        case .locked, .dismissed, .waiting, .sealed: "it is locked"
        case .notAnswering: "there was no response"
        }
    }
}

extension ClusterFault {
    /// A range of fewer entries may be short enough.
    static let longResponse = ClusterFault.invalid(reason: "a response that is too long")
}
