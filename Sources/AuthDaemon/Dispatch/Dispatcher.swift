package import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// Registers the handlers of all methods. What is in memory is answered without a task or an actor's turn.
package struct Dispatcher: Sendable {
    private var methods: MethodTable

    package init(
        context: AgentContext, sessions: SessionRequests, signIns: SignInService, api: APIClient,
        outbox: Outbox, store: StoreAdmin, services: AgentServices, limits: ConnectionLimits = ConnectionLimits()
    ) {
        methods = MethodTable(wait: RequestWait(board: context.board, limits: limits))
        addAgent(context, services)
        addProviders(context.providers, signIns, services)
        addSignIns(signIns)
        addSessions(sessions)
        addTokens(sessions)
        addCalls(api, outbox, longest: limits.longestAnswer)
        addStore(store)
    }

    func answer(_ request: RPCRequest) -> RequestHandling { methods.answer(request) }

    private mutating func addAgent(_ context: AgentContext, _ services: AgentServices) {
        methods.now(AgentPing.self) { _ in services.pong }
        methods.now(AgentInfoGet.self) { _ in services.info(store: context.board.store) }
        methods.now(AgentStatsGet.self) { _ in services.stats(board: context.board) }
        methods.on(RPCDiscover.self) { _ in .rendered(Discovery.text) }
        methods.now(NetworkStatusGet.self) { _ in context.board.network }
        methods.later(AgentReload.self) { call async throws(AgentError) in try await services.reload(call) }
        methods.on(AgentLock.self) { _ throws(AgentError) in
            throw AgentError(
                .unsupported,
                "\(AgentLock.name) is not supported by this version (\(Release.version)); rpc.discover lists all methods."
            )
        }
        methods.on(EventsSubscribe.self) { .subscribe($0.params) }
        methods.on(EventsUnsubscribe.self) { .unsubscribe($0.params) }
    }

    private mutating func addProviders(_ providers: ProviderClient, _ signIns: SignInService, _ services: AgentServices) {
        methods.now(ProviderListGet.self) { _ in ProviderList(providers: providers.profiles.list.map(\.summary)) }
        methods.now(ProviderShow.self) { call throws(AgentError) in
            let name = call.params.provider
            guard let profile = providers.profiles[name] else { throw .unknownProvider(name) }
            return profile.detail
        }
        methods.later(ProviderCheckRun.self) { call async throws(AgentError) in try await services.checkProfile(call) }
        methods.later(ProviderForget.self) { call async throws(AgentError) in
            try await signIns.clients.forget(call.params)
        }
    }

    private mutating func addSignIns(_ signIns: SignInService) {
        methods.later(LoginStart.self) { call async throws(AgentError) in try await signIns.start(call) }
        methods.later(LoginAnswer.self) { call async throws(AgentError) in try await signIns.answer(call) }
        methods.later(LoginWait.self) { call async throws(AgentError) in try await signIns.wait(call.params) }
        methods.later(LoginCancel.self) { call async throws(AgentError) in try await signIns.cancel(call.params) }
        methods.later(LoginResend.self) { call async throws(AgentError) in try await signIns.resend(call.params) }
        methods.later(LoginRedirect.self) { call async throws(AgentError) in
            try await signIns.redirect(call)
            return Nothing()
        }
        methods.later(PasswordSet.self) { call async throws(AgentError) in try await signIns.start(.set, call.params) }
        methods.later(PasswordChange.self) { call async throws(AgentError) in
            try await signIns.start(.change, call.params)
        }
        methods.later(PasswordRequestReset.self) { call async throws(AgentError) in
            try await signIns.start(.requestReset, call.params)
        }
        methods.later(PasswordReset.self) { call async throws(AgentError) in
            try await signIns.start(.reset, call.params)
        }
    }

    private mutating func addSessions(_ sessions: SessionRequests) {
        methods.known(SessionListGet.self) { _ throws(AgentError) in SessionList(sessions: try sessions.list()) }
        methods.known(SessionStatusGet.self) { call throws(AgentError) in try sessions.status(call.params.session) }
        methods.later(SessionUse.self) { call async throws(AgentError) in try await sessions.use(call) }
        methods.later(SessionRefresh.self) { call async throws(AgentError) in try await sessions.refresh(call.params) }
        methods.later(SessionValidate.self) { call async throws(AgentError) in try await sessions.validate(call.params)
        }
        methods.later(SessionLogout.self) { call async throws(AgentError) in try await sessions.logout(call) }
        methods.later(SessionWait.self, within: { $0.timeout }) { call async throws(AgentError) in
            try await sessions.wait(call)
        }
        methods.later(SessionTrust.self) { call async throws(AgentError) in try await sessions.trust(call) }
        methods.later(UserGet.self) { call async throws(AgentError) in try await sessions.user(call) }
        methods.later(UserUpdate.self) { call async throws(AgentError) in try await sessions.updateUser(call) }
    }

    private mutating func addTokens(_ sessions: SessionRequests) {
        methods.on(TokenGet.self) { [wait = methods.wait] call in
            if let token = sessions.liveToken(call) { return .rendered(token.json) }
            return wait.value(within: call.timeout) { () async throws(AgentError) in try await sessions.token(call).json
            }
        }
        methods.later(TokenReject.self) { call async throws(AgentError) in try await sessions.reject(call) }
        methods.later(TokenProof.self) { call async throws(AgentError) in try await sessions.proof(call) }
    }

    private mutating func addCalls(_ api: APIClient, _ outbox: Outbox, longest: Duration) {
        methods.on(APIRequest.self) { [wait = methods.wait] call in
            if call.streams, !call.queue {
                let name = call.stream ?? ""
                return .open(
                    StreamOpening(
                        name: name, make: { send throws(AgentError) in try api.stream(for: call, tell: send) }
                    ) {
                        await api.carry(call, by: $0)
                    })
            }
            return wait.text(within: call.timeout) { () async throws(AgentError) in
                call.queue ? try await outbox.post(.request(call)).rendered : try await api.request(call).rendered
            }
        }
        methods.on(APICall.self) { [wait = methods.wait] call in
            if call.streams, !call.queue {
                let name = call.stream ?? ""
                return .open(
                    StreamOpening(
                        name: name, make: { send throws(AgentError) in try api.stream(for: call, tell: send) }
                    ) {
                        await api.carry(call, by: $0)
                    })
            }
            return wait.text(within: call.timeout) { () async throws(AgentError) in
                call.queue ? try await outbox.post(.call(call)).rendered : try await api.call(call).rendered
            }
        }
        methods.on(APIWrite.self) { call in
            .onStream(call.stream) { stream in
                .later(within: longest) { () async throws(AgentError) in .value(try await stream.write(call).json) }
            }
        }
        methods.on(APIRead.self) { call in
            .onStream(call.params.stream) { stream in
                .later(within: longest) { () async throws(AgentError) in .value(try await stream.read().json) }
            }
        }
        methods.on(APIClose.self) { call in
            .onStream(call.params.stream) { stream in
                stream.close(.streamClosed)
                return .now(.success(Nothing().json))
            }
        }
        methods.later(OutboxListGet.self) { call async throws(AgentError) in try await outbox.list(call.params) }
        methods.later(OutboxFlush.self) { call async throws(AgentError) in try await outbox.flush(call.params) }
        methods.later(OutboxDrop.self) { call async throws(AgentError) in try await outbox.drop(call.params) }
    }

    private mutating func addStore(_ store: StoreAdmin) {
        methods.later(AgentUnlock.self) { call async throws(AgentError) in try await store.unlock(call) }
        methods.later(StoreRekey.self) { call async throws(AgentError) in try await store.rekey(call) }
        methods.later(StoreMigrate.self) { call async throws(AgentError) in try await store.migrate(call) }
        methods.later(SessionExport.self) { call async throws(AgentError) in try await store.export(call) }
        methods.later(SessionImport.self) { call async throws(AgentError) in try await store.take(call) }
    }
}
