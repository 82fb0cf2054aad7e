extension AgentRequest {
    /// - Parameter params: absent, or an object; keys that nobody knows are ignored. An empty array is taken as absent.
    /// - Throws: JSON-RPC's -32601 and -32602, the latter naming the key and what was expected of it.
    public init(method: String, params: JSON?) throws(AgentError) {
        guard let name = MethodName.byName[method] else { throw .methodNotFound(method) }
        self = try AgentRequest.read(name, .object(try AgentRequest.named(params)))
    }

    private static func named(_ params: JSON?) throws(AgentError) -> JSONObject {
        switch params {
        case nil, .array([]): return JSONObject()
        case .object(let object): return object
        case .array: throw .invalidParams("params: expected an object with names, found an array of positions.")
        case let other?: throw .invalidParams("params: expected an object, found \(other.kindInWords).")
        }
    }

    private static func read(_ name: MethodName, _ params: JSON) throws(AgentError) -> AgentRequest {
        switch name {
        case .agentInfo: .agentInfo
        case .agentPing: .agentPing
        case .agentStats: .agentStats
        case .agentReload: .agentReload(try ReloadParams(params: params))
        case .agentLock: .agentLock
        case .agentUnlock: .agentUnlock(try UnlockParams(params: params))
        case .rpcDiscover: .rpcDiscover
        case .providerList: .providerList
        case .providerShow: .providerShow(try ProviderShow(params: params).params)
        case .providerCheck: .providerCheck(try ProviderCheckParams(params: params))
        case .providerForget: .providerForget(try ProviderForget(params: params).params)
        case .loginStart: .loginStart(try LoginStartParams(params: params))
        case .loginAnswer: .loginAnswer(try LoginAnswerParams(params: params))
        case .loginWait: .loginWait(try LoginWait(params: params).params)
        case .loginCancel: .loginCancel(try LoginCancel(params: params).params)
        case .loginResend: .loginResend(try LoginResend(params: params).params)
        case .loginRedirect: .loginRedirect(try LoginRedirectParams(params: params))
        case .sessionList: .sessionList
        case .sessionStatus: .sessionStatus(try SessionStatusGet(params: params).params)
        case .sessionUse: .sessionUse(try SessionUseParams(params: params))
        case .sessionRefresh: .sessionRefresh(try SessionRefresh(params: params).params)
        case .sessionValidate: .sessionValidate(try SessionValidate(params: params).params)
        case .sessionLogout: .sessionLogout(try LogoutParams(params: params))
        case .sessionWait: .sessionWait(try SessionWaitParams(params: params))
        case .passwordSet: .passwordSet(try PasswordSet(params: params).params)
        case .passwordChange: .passwordChange(try PasswordChange(params: params).params)
        case .passwordRequestReset: .passwordRequestReset(try PasswordRequestReset(params: params).params)
        case .passwordReset: .passwordReset(try PasswordReset(params: params).params)
        case .tokenGet: .tokenGet(try TokenGetParams(params: params))
        case .tokenReject: .tokenReject(try TokenRejectParams(params: params))
        case .tokenProof: .tokenProof(try TokenProofParams(params: params))
        case .userGet: .userGet(try UserGetParams(params: params))
        case .userUpdate: .userUpdate(try UserUpdateParams(params: params))
        case .apiRequest: .apiRequest(try APIRequestParams(params: params))
        case .apiCall: .apiCall(try APICallParams(params: params))
        case .apiWrite: .apiWrite(try StreamWriteParams(params: params))
        case .apiRead: .apiRead(try APIRead(params: params).params)
        case .apiClose: .apiClose(try APIClose(params: params).params)
        case .networkStatus: .networkStatus
        case .eventsSubscribe: .eventsSubscribe(try EventsSubscribe(params: params).params)
        case .eventsUnsubscribe: .eventsUnsubscribe(try EventsUnsubscribe(params: params).params)
        case .outboxList: .outboxList(try OutboxListGet(params: params).params)
        case .outboxFlush: .outboxFlush(try OutboxFlush(params: params).params)
        case .outboxDrop: .outboxDrop(try OutboxDrop(params: params).params)
        case .storeRekey: .storeRekey(try RekeyParams(params: params))
        case .storeMigrate: .storeMigrate(try MigrateParams(params: params))
        case .sessionExport: .sessionExport(try ExportParams(params: params))
        case .sessionImport: .sessionImport(try ImportParams(params: params))
        case .sessionTrust: .sessionTrust(try TrustParams(params: params))
        }
    }
}
