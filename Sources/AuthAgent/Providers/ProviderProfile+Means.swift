internal import AuthMachines
internal import AuthModel
internal import AuthWire

extension ProviderProfile {
    /// What renews this session.
    /// - Parameter renewsByToken: the profile's own property, which the caller may have computed before.
    func means(of record: SessionRecord, renewsByToken: Bool) -> RenewalMeans {
        let isRepeated = (try? repeatedSignIn(record)) != nil
        guard record.resource?.sharedSession != nil || canRenew(record, renewsByToken, isRepeated) else { return .none }
        return renewsByToken && !isRepeated ? .liveToken : .lasting
    }

    /// A request that cannot be built now may be possible when the profile is fixed: only a provider ends a session. So
    /// the request of a renewal is not built here.
    private func canRenew(_ record: SessionRecord, _ renewsByToken: Bool, _ isRepeated: Bool) -> Bool {
        if oauth != nil { return renewsByOAuth(record) }
        if isRepeated { return true }
        switch renewal.kind {
        case .none: return false
        case .refresh, .validate:
            return renewal.request != nil && (renewsByToken || record.tokens.refreshToken?.isEmpty == false)
        case .signIn:
            do throws(AgentError) {
                return try repeatedSignIn(record) != nil
            } catch {
                return true
            }
        }
    }
}
