import AuthMachines
import AuthModel
import AuthWire

// What a trace says. Nothing of it runs unless a schedule is traced.

extension SessionEvent {
    var words: String {
        switch self {
        case .tokenRequested(let caller, let minValid):
            "caller \(caller.number) wants a token" + (minValid.map { " for \($0)" } ?? "")
        case .renewalRequested(let caller): "caller \(caller.number) wants a renewal"
        case .rejected(let caller, let token, _): "caller \(caller.number) got a 401 with \(token.reveal())"
        case .targetedTokenRequested(let caller, let target, _, _):
            "caller \(caller.number) wants a token for \(target)"
        case .signOutRequested(let caller, let revokes):
            "caller \(caller.number) signs out" + (revokes ? "" : ", without the provider")
        case .writeRequested(let caller): "caller \(caller.number) wants it written"
        case .callerGone(let caller): "caller \(caller.number) has gone"
        case .replaced(let record, _, _): "signed in again with \(record.tokens.accessToken.reveal())"
        case .requestEnded(let currentRequest, let result, _): "request \(currentRequest.number) ended: \(result.words)"
        case .storeReread(let currentRequest, let result):
            "read again for request \(currentRequest.number): \(result.words)"
        case .saved(let version): "version \(version.words) is written"
        case .saveRefused(let version, let stored):
            "version \(version.words) is not written: the store holds \(stored.words)"
        case .saveFailed(let version, let error): "version \(version.words) is not written: \(error)"
        case .compared(let result, _): "the store holds \(result.words)"
        case .userReceived: "the user changed"
        case .passwordSet: "the password is set"
        default: "\(self)"
        }
    }
}

extension SessionAction {
    var words: String {
        switch self {
        case .renew(let currentRequest, let record):
            "ask the provider, request \(currentRequest.number), with \(record.tokens.words)"
        case .requestTargeted(let currentRequest, _, let target):
            "ask the provider, request \(currentRequest.number), for \(target)"
        case .reread(let currentRequest): "read the store again for request \(currentRequest.number)"
        case .save(let record, _): "write \(record.words)"
        case .rewrite(let record): "write once more \(record.words)"
        case .delete: "remove it from the store"
        case .revoke(let record): "have \(record.tokens.words) revoked"
        case .compare: "look what the store holds"
        case .handOver(let session):
            session.map { "hand over \($0.record.words)" }
                ?? "hand over nothing"
        case .publish(let snapshot):
            "publish \(snapshot.status.state) \(snapshot.status.cause ?? "") \(snapshot.token?.reveal() ?? "no token")"
        case .forget: "forget it"
        }
    }
}

extension SessionReply {
    var words: String {
        switch self {
        case .token(let result): result.accessToken
        case .done: "done"
        case .failure(let error): "\(error)"
        }
    }
}

extension RecordVersion {
    fileprivate var words: String { "\(generation).\(corrections)/\(revision)" }
}

extension SessionRecord {
    fileprivate var words: String { "version \(version.words) with \(tokens.words)" }
}

extension TokenSet {
    var words: String { "\(accessToken.reveal()) and \(refreshToken?.reveal() ?? "no refresh token")" }
}

extension Result<Grant, ProviderFailure> {
    fileprivate var words: String {
        switch self {
        case .success(let grant):
            "\(grant.accessToken?.reveal() ?? "the same token") and \(grant.refreshToken?.reveal() ?? "the same")"
        case .failure(.final(let error)): "finally no: \(error)"
        case .failure(.refused(let error)): "refused: \(error)"
        case .failure(.temporary(let error, let wait)): "\(error)" + (wait.map { ", wait \($0)" } ?? "")
        }
    }
}

extension Result<SessionRecord?, StoreError> {
    fileprivate var words: String {
        switch self {
        case .success(let record): record?.words ?? "nothing"
        case .failure(let error): "\(error)"
        }
    }
}

extension EventKind {
    init(_ event: SessionEvent) {
        self =
            switch event {
            case .tokenRequested: .tokenRequested
            case .targetedTokenRequested: .targetedTokenRequested
            case .renewalRequested: .renewalRequested
            case .rejected: .rejected
            case .signOutRequested: .signOutRequested
            case .writeRequested: .writeRequested
            // The simulated agent dies, and is never stopped.
            case .requestsEndRequested: .writeRequested
            case .callerGone: .callerGone
            // Each machine begins.
            case .begun: .wake
            case .replaced: .replaced
            case .userReceived: .userReceived
            case .passwordSet: .passwordSet
            case .defaultChosen, .defaultImplied, .defaultEnded: .defaultChosen
            // No schedule locks the agent.
            case .targetedTokensDropped: .targetedTokenRequested
            case .renewable(let means): means == .none ? .notRenewable : .renewable
            // The profiles of a schedule lead to one place.
            case .originsChecked, .originsTrusted: .renewable
            // No hosts share a store there.
            case .shared: .renewable
            case .overtaken, .notSent: .failed
            case .saveOvertaken: .saveRefused
            case .requestEnded(_, .success, _): .renewed
            case .requestEnded(_, .failure(.final), _): .finalNo
            case .requestEnded(_, .failure(.refused), _): .refused
            case .requestEnded(_, .failure(.temporary), _): .failed
            case .storeReread(_, .success): .reread
            case .storeReread(_, .failure): .rereadFailed
            case .saved: .saved
            case .saveRefused: .saveRefused
            case .saveFailed: .saveFailed
            case .deleted: .deleted
            case .deleteFailed: .deleteFailed
            case .compared(.success, _): .compared
            case .compared(.failure, _): .comparisonFailed
            case .wake: .wake
            case .checkDue: .checkDue
            // No schedule has another service behind the store.
            case .storeReady, .storeReplaced: .storeReady
            case .storeChanged: .storeChanged
            case .networkChanged(let state): state == .online ? .networkBack : .networkGone
            case .clockSet: .clockSet
            }
    }
}
