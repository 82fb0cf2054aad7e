/// Every method of the protocol, in the order of Docs/protocol.md.
///
/// For code that describes all methods. A client that makes single requests does not use the list.
package enum AgentMethods {
    package static let all: [any AgentMethod.Type] = [
        AgentInfoGet.self, AgentPing.self, AgentStatsGet.self, AgentReload.self, AgentRestart.self,
        AgentLock.self, AgentUnlock.self, AgentPassphrase.self, RPCDiscover.self,
        ProviderListGet.self, ProviderShow.self, ProviderCheckRun.self, ProviderTry.self,
        ProviderForget.self,
        LoginStart.self, LoginAnswer.self, LoginCheck.self, LoginWait.self, LoginCancel.self, LoginResend.self,
        LoginRedirect.self, LoginLend.self,
        SessionListGet.self, SessionStatusGet.self, SessionUse.self, SessionRefresh.self, SessionValidate.self,
        SessionLogout.self, SessionWait.self,
        PasswordSet.self, PasswordChange.self, PasswordRequestReset.self, PasswordReset.self,
        TokenGet.self, TokenReject.self, TokenProof.self,
        UserGet.self, UserUpdate.self,
        APIRequest.self, APICall.self, APIWrite.self, APIRead.self, APIClose.self,
        NetworkStatusGet.self,
        EventsSubscribe.self, EventsUnsubscribe.self,
        OutboxListGet.self, OutboxFlush.self, OutboxDrop.self,
        StoreUnlock.self, StoreRekey.self, StoreMigrate.self,
        ClusterStatusGet.self, ClusterJoin.self, ClusterAdmit.self, ClusterForget.self,
        SessionExport.self, SessionImport.self, SessionTrust.self,
        AuditListGet.self, ConsentListGet.self, ConsentAnswerCall.self,
        PolicyShow.self, PolicyTest.self, PolicyReplay.self, PolicyApply.self,
    ]

    package static func named(_ name: String) -> (any AgentMethod.Type)? { all.first { $0.name == name } }
}
