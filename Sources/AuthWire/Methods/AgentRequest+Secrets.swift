/// Which requests are about secrets.
extension AgentRequest {
    /// Whether the params hold a password, a passphrase, a key, a code or whole sessions: what only an agent of the same
    /// user may get. The bodies of API calls are no such thing.
    package var sendsSecrets: Bool {
        switch self {
        case .loginStart, .loginAnswer, .loginRedirect, .passwordSet, .passwordChange, .passwordRequestReset,
            .passwordReset, .tokenReject, .agentUnlock, .storeRekey, .storeMigrate, .sessionExport, .sessionImport,
            .providerCheck:
            true
        // The token that a proof is for, if it is not the session's own.
        case .tokenProof(let params): params.accessToken != nil
        case .agentInfo, .agentPing, .agentStats, .agentReload, .agentLock, .rpcDiscover, .providerList, .providerShow,
            .providerForget,
            .loginWait, .loginCancel, .loginResend, .sessionList, .sessionStatus, .sessionUse, .sessionRefresh,
            .sessionValidate, .sessionLogout, .sessionTrust, .sessionWait, .tokenGet, .userGet,
            .userUpdate, .apiRequest,
            .apiCall, .apiWrite, .apiRead, .apiClose, .networkStatus, .eventsSubscribe, .eventsUnsubscribe, .outboxList,
            .outboxFlush, .outboxDrop:
            false
        }
    }

    /// Whether secrets are in the params, or in the answer: tokens, exported sessions, what a provider's API answers.
    package var holdsSecrets: Bool {
        switch self {
        case .tokenGet, .tokenProof, .userUpdate, .apiRequest, .apiCall, .apiWrite, .apiRead: true
        default: sendsSecrets
        }
    }
}
