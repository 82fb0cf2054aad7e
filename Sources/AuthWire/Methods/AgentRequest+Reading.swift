extension AgentRequest {
    /// - Parameter params: absent, or an object; keys that nobody knows are ignored. An empty array is taken as absent.
    /// - Throws: JSON-RPC's -32601 and -32602, the latter naming the key and what was expected of it.
    public init(method: String, params: JSON?) throws(AgentError) {
        guard let name = MethodName.byName[method] else { throw .methodNotFound(method) }
        self = try AgentRequest.read(name, try AgentRequest.named(params))
    }

    private static func named(_ params: JSON?) throws(AgentError) -> JSONObject {
        switch params {
        case nil, .array([]): return JSONObject()
        case .object(let object): return object
        case .array: throw .invalidParams("params: expected an object with names, found an array of positions.")
        case let other?: throw .invalidParams("params: expected an object, found \(other.kindInWords).")
        }
    }

    private static func read(_ name: MethodName, _ object: JSONObject) throws(AgentError) -> AgentRequest {
        switch name {
        case .agentInfo: .agentInfo
        case .agentPing: .agentPing
        case .agentStats: .agentStats
        case .agentReload: .agentReload(try ReloadParams(object))
        case .agentLock: .agentLock
        case .agentUnlock: .agentUnlock(try UnlockParams(object))
        case .rpcDiscover: .rpcDiscover
        case .providerList: .providerList
        case .providerShow: .providerShow(try ProviderParams(object))
        case .providerCheck: .providerCheck(try ProviderCheckParams(object))
        case .providerForget: .providerForget(try ProviderParams(object))
        case .loginStart: .loginStart(try LoginStartParams(object))
        case .loginAnswer: .loginAnswer(try LoginAnswerParams(object))
        case .loginWait: .loginWait(try LoginParams(object))
        case .loginCancel: .loginCancel(try LoginParams(object))
        case .loginResend: .loginResend(try LoginParams(object))
        case .loginRedirect: .loginRedirect(try LoginRedirectParams(object))
        case .sessionList: .sessionList
        case .sessionStatus: .sessionStatus(try SessionParams(object))
        case .sessionUse: .sessionUse(try SessionUseParams(object))
        case .sessionRefresh: .sessionRefresh(try SessionParams(object))
        case .sessionValidate: .sessionValidate(try SessionParams(object))
        case .sessionLogout: .sessionLogout(try LogoutParams(object))
        case .sessionWait: .sessionWait(try SessionWaitParams(object))
        case .passwordSet: .passwordSet(try PasswordParams(object))
        case .passwordChange: .passwordChange(try PasswordParams(object))
        case .passwordRequestReset: .passwordRequestReset(try PasswordParams(object))
        case .passwordReset: .passwordReset(try PasswordParams(object))
        case .tokenGet: .tokenGet(try TokenGetParams(object))
        case .tokenReject: .tokenReject(try TokenRejectParams(object))
        case .tokenProof: .tokenProof(try TokenProofParams(object))
        case .userGet: .userGet(try UserGetParams(object))
        case .userUpdate: .userUpdate(try UserUpdateParams(object))
        case .apiRequest: .apiRequest(try APIRequestParams(object))
        case .apiCall: .apiCall(try APICallParams(object))
        case .apiWrite: .apiWrite(try StreamWriteParams(object))
        case .apiRead: .apiRead(try StreamParams(object))
        case .apiClose: .apiClose(try StreamParams(object))
        case .networkStatus: .networkStatus
        case .eventsSubscribe: .eventsSubscribe(try SubscribeParams(object))
        case .eventsUnsubscribe: .eventsUnsubscribe(try SubscribeParams(object))
        case .outboxList: .outboxList(try OutboxParams(object))
        case .outboxFlush: .outboxFlush(try OutboxParams(object))
        case .outboxDrop: .outboxDrop(try OutboxParams(object))
        case .storeRekey: .storeRekey(try RekeyParams(object))
        case .storeMigrate: .storeMigrate(try MigrateParams(object))
        case .sessionExport: .sessionExport(try ExportParams(object))
        case .sessionImport: .sessionImport(try ImportParams(object))
        case .sessionTrust: .sessionTrust(try TrustParams(object))
        }
    }
}
