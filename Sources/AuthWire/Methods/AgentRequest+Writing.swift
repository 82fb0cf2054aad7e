extension AgentRequest {
    public var method: MethodName {
        switch self {
        case .agentInfo: .agentInfo
        case .agentPing: .agentPing
        case .agentStats: .agentStats
        case .agentReload: .agentReload
        case .agentLock: .agentLock
        case .agentUnlock: .agentUnlock
        case .rpcDiscover: .rpcDiscover
        case .providerList: .providerList
        case .providerShow: .providerShow
        case .providerCheck: .providerCheck
        case .providerForget: .providerForget
        case .loginStart: .loginStart
        case .loginAnswer: .loginAnswer
        case .loginWait: .loginWait
        case .loginCancel: .loginCancel
        case .loginResend: .loginResend
        case .loginRedirect: .loginRedirect
        case .sessionList: .sessionList
        case .sessionStatus: .sessionStatus
        case .sessionUse: .sessionUse
        case .sessionRefresh: .sessionRefresh
        case .sessionValidate: .sessionValidate
        case .sessionLogout: .sessionLogout
        case .sessionWait: .sessionWait
        case .passwordSet: .passwordSet
        case .passwordChange: .passwordChange
        case .passwordRequestReset: .passwordRequestReset
        case .passwordReset: .passwordReset
        case .tokenGet: .tokenGet
        case .tokenReject: .tokenReject
        case .tokenProof: .tokenProof
        case .userGet: .userGet
        case .userUpdate: .userUpdate
        case .apiRequest: .apiRequest
        case .apiCall: .apiCall
        case .apiWrite: .apiWrite
        case .apiRead: .apiRead
        case .apiClose: .apiClose
        case .networkStatus: .networkStatus
        case .eventsSubscribe: .eventsSubscribe
        case .eventsUnsubscribe: .eventsUnsubscribe
        case .outboxList: .outboxList
        case .outboxFlush: .outboxFlush
        case .outboxDrop: .outboxDrop
        case .storeRekey: .storeRekey
        case .storeMigrate: .storeMigrate
        case .sessionExport: .sessionExport
        case .sessionImport: .sessionImport
        case .sessionTrust: .sessionTrust
        }
    }

    /// The params as the wire has them; an empty object for a method that takes none.
    public var params: JSON {
        switch self {
        case .agentInfo, .agentPing, .agentStats, .agentLock, .rpcDiscover, .providerList, .sessionList, .networkStatus:
            JSON.object(JSONObject())
        case .agentReload(let params): params.json
        case .agentUnlock(let params): params.json
        case .providerShow(let params): params.json
        case .providerCheck(let params): params.json
        case .providerForget(let params): params.json
        case .loginStart(let params): params.json
        case .loginAnswer(let params): params.json
        case .loginWait(let params), .loginCancel(let params), .loginResend(let params): params.json
        case .loginRedirect(let params): params.json
        case .sessionStatus(let params), .sessionRefresh(let params), .sessionValidate(let params): params.json
        case .sessionUse(let params): params.json
        case .sessionLogout(let params): params.json
        case .sessionWait(let params): params.json
        case .passwordSet(let params), .passwordChange(let params), .passwordRequestReset(let params),
            .passwordReset(let params):
            params.json
        case .tokenGet(let params): params.json
        case .tokenReject(let params): params.json
        case .tokenProof(let params): params.json
        case .userGet(let params): params.json
        case .userUpdate(let params): params.json
        case .apiRequest(let params): params.json
        case .apiCall(let params): params.json
        case .apiWrite(let params): params.json
        case .apiRead(let params), .apiClose(let params): params.json
        case .eventsSubscribe(let params), .eventsUnsubscribe(let params): params.json
        case .outboxList(let params), .outboxFlush(let params), .outboxDrop(let params): params.json
        case .storeRekey(let params): params.json
        case .storeMigrate(let params): params.json
        case .sessionExport(let params): params.json
        case .sessionImport(let params): params.json
        case .sessionTrust(let params): params.json
        }
    }
}
