import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// The handlers of all methods.
extension Dispatcher {
    mutating func addAgent(_ services: AgentServices) {
        now(AgentPing.self) { _ in services.pong }
        onCaller(AgentInfoGet.self) { [board, access] _, caller in
            let store = HiddenSessions(access, for: caller)?.withoutMessage(board.store) ?? board.store
            return .now(.success(services.info(store: store, lock: board.lock).json))
        }
        onCaller(AgentStatsGet.self) { [board, access] _, caller in
            let all = services.stats(board: board)
            return .now(.success((HiddenSessions(access, for: caller)?.stats(all, on: board) ?? all).json))
        }
        on(RPCDiscover.self) { _ in .rendered(Discovery.text) }
        onCaller(NetworkStatusGet.self) { [board, access] _, caller in
            let all = board.network
            return .now(.success((HiddenSessions(access, for: caller)?.network(all, on: board) ?? all).json))
        }
        later(AgentReload.self) { call async throws(AgentError) in try await services.reload(call) }
        naming(AgentRestart.self) { _, names async throws(AgentError) in
            try await services.restart(names)
            return services.pong
        }
        on(EventsSubscribe.self) { .subscribe($0.params) }
        on(EventsUnsubscribe.self) { .unsubscribe($0.params) }
    }

    mutating func addProviders(_ providers: ProviderClient, _ signIns: SignInService, _ services: AgentServices) {
        onCaller(ProviderListGet.self) { [board, access] _, caller in
            // Generated profiles are listed if a session uses them that the client may see.
            let statuses = board.statuses()
            let visible = HiddenSessions(access, for: caller)?.without(statuses) ?? statuses
            let urls = Set(visible.map(\.provider)).subtracting(providers.profiles.list.map(\.name))
            let generated = urls.sorted().compactMap { providers.profile(named: $0) }
            let list = ProviderList(providers: (providers.profiles.list + generated).map(\.summary))
            return .now(.success(list.json))
        }
        onCaller(ProviderShow.self) { [board, access] call, caller throws(AgentError) in
            let name = call.params.provider
            guard let profile = providers.profile(named: name) else { throw .unknownProvider(name) }
            // A generated profile says that there is a session at this URL, or was one.
            if providers.profiles[name] == nil, let hidden = HiddenSessions(access, for: caller),
                !hidden.without(board.statuses()).contains(where: { $0.provider == name })
            {
                throw .unknownProvider(name)
            }
            return .now(.success(profile.detail.json))
        }
        later(ProviderCheckRun.self) { call async throws(AgentError) in try await services.checkProfile(call) }
        later(ProviderTry.self) { call async throws(AgentError) in try await services.tryProfile(call) }
        naming(ProviderForget.self) { call, names async throws(AgentError) in
            try await signIns.clients.forget(call.params, naming: names)
        }
    }

    mutating func addSignIns(_ signIns: SignInService) {
        naming(LoginStart.self, within: { $0.timeout }) { call, names async throws(AgentError) in
            try await signIns.start(call, naming: names)
        }
        later(LoginAnswer.self, within: { $0.timeout }) { call async throws(AgentError) in
            try await signIns.answer(call)
        }
        later(LoginCheck.self) { call async throws(AgentError) in try await signIns.check(call) }
        later(LoginWait.self) { call async throws(AgentError) in try await signIns.wait(call.params) }
        later(LoginCancel.self) { call async throws(AgentError) in try await signIns.cancel(call.params) }
        later(LoginResend.self) { call async throws(AgentError) in try await signIns.resend(call.params) }
        later(LoginRedirect.self) { call async throws(AgentError) in
            try await signIns.redirect(call)
            return Nothing()
        }
        later(PasswordSet.self, within: { $0.params.timeout }) { call async throws(AgentError) in
            try await signIns.start(.set, call.params)
        }
        later(PasswordChange.self, within: { $0.params.timeout }) { call async throws(AgentError) in
            try await signIns.start(.change, call.params)
        }
        later(PasswordRequestReset.self, within: { $0.params.timeout }) { call async throws(AgentError) in
            try await signIns.start(.requestReset, call.params)
        }
        later(PasswordReset.self, within: { $0.params.timeout }) { call async throws(AgentError) in
            try await signIns.start(.reset, call.params)
        }
    }

    mutating func addSessions(_ sessions: SessionRequests) {
        known(SessionListGet.self) { _ throws(AgentError) in SessionList(sessions: try sessions.list()) }
        known(SessionStatusGet.self) { call throws(AgentError) in try sessions.status(call.params.session) }
        later(SessionUse.self) { call async throws(AgentError) in try await sessions.use(call) }
        later(SessionRefresh.self) { call async throws(AgentError) in try await sessions.refresh(call.params) }
        on(SessionValidate.self) { call in
            .later(within: call.timeout) { end async throws(AgentError) in
                .value(try await sessions.validate(SessionParams(session: call.session), until: end).json)
            }
        }
        later(SessionLogout.self) { call async throws(AgentError) in try await sessions.logout(call) }
        later(SessionWait.self, within: { $0.timeout }) { call async throws(AgentError) in
            try await sessions.wait(call)
        }
        later(SessionTrust.self) { call async throws(AgentError) in try await sessions.trust(call) }
        later(UserGet.self) { call async throws(AgentError) in try await sessions.user(call) }
        later(UserUpdate.self) { call async throws(AgentError) in try await sessions.updateUser(call) }
    }

    mutating func addTokens(_ sessions: SessionRequests) {
        on(TokenGet.self) { call in
            let work: RequestTask.Work = { _ async throws(AgentError) in .token(try await sessions.token(call)) }
            if let token = sessions.liveToken(call) { return .live(token, work) }
            return .later(within: call.timeout, work)
        }
        later(TokenReject.self) { call async throws(AgentError) in try await sessions.reject(call) }
        later(TokenProof.self) { call async throws(AgentError) in try await sessions.proof(call) }
    }

    mutating func addCalls(_ api: APIClient, _ outbox: Outbox) {
        addCall(
            APIRequest.self, stream: { call, send throws(AgentError) in try api.stream(for: call, respond: send) },
            carry: { await api.carry($0, by: $1) }
        ) { call, caller async throws(AgentError) in
            call.queue ? try await outbox.post(.request(call), by: caller) : try await api.request(call)
        }
        addCall(
            APICall.self, stream: { call, send throws(AgentError) in try api.stream(for: call, respond: send) },
            carry: { await api.carry($0, by: $1) }
        ) { call, caller async throws(AgentError) in
            call.queue ? try await outbox.post(.call(call), by: caller) : try await api.call(call)
        }
        on(APIWrite.self) { call in
            .onStream(call.stream) { stream in
                if call.requestsSocket { return .bodySocket(stream, for: .upload(from: call.offset)) }
                return .later(within: Self.unlimited) { _ async throws(AgentError) in
                    .value(try await stream.write(call).json)
                }
            }
        }
        on(APIRead.self) { call in
            .onStream(call.stream) { stream in
                if call.requestsSocket { return .bodySocket(stream, for: .download) }
                return .later(within: Self.unlimited) { _ async throws(AgentError) in
                    .value(try await stream.read().json)
                }
            }
        }
        on(APIClose.self) { call in
            .onStream(call.params.stream) { stream in
                stream.close(.streamClosed)
                return .now(.success(Nothing().json))
            }
        }
        later(OutboxListGet.self) { call async throws(AgentError) in try await outbox.list(call.params) }
        later(OutboxFlush.self) { call async throws(AgentError) in try await outbox.flush(call.params) }
        later(OutboxDrop.self) { call async throws(AgentError) in try await outbox.drop(call.params) }
    }

    /// The connection shortens it to its longest answer.
    private static let unlimited = Duration.seconds(Int64.max)

    /// A call of a provider's API, with a stream or without one. A queued call has none.
    private mutating func addCall<Call: ProviderCall>(
        _: Call.Type, stream: @escaping @Sendable (Call, @escaping APIStream.Respond) throws(AgentError) -> APIStream,
        carry: @escaping @Sendable (Call, APIStream) async -> Void,
        answer: @escaping @Sendable (Call, AccessFacts?) async throws(AgentError) -> APIResponse
    ) {
        onCaller(Call.self) { [access] call, caller in
            guard call.streams, !call.queue else {
                // Rules are applied again when a queued write is sent.
                let facts = call.queue ? access.facts(of: caller, for: .program) : nil
                // A queued write is reported as queued, so that the client does not repeat it.
                return .later(within: call.timeout, endsAtLock: !call.queue) { _ async throws(AgentError) in
                    .response(try await answer(call, facts))
                }
            }
            return .open(
                StreamOpening(
                    name: call.stream ?? "", make: { send throws(AgentError) in try stream(call, send) },
                    run: { await carry(call, $0) }))
        }
    }

    mutating func addAudit(_ audit: AuditLog) {
        onCaller(AuditListGet.self) { [access] call, caller in
            let limit = call.limit ?? AuditLog.usualLimit
            // Filtered before the limit applies: an empty page means the end to a client.
            let isHidden = HiddenSessions(access, for: caller)?.rule
            guard limit > AuditLog.usualLimit else {
                return .now(.success(audit.list(after: call.after, limit: limit, without: isHidden).json))
            }
            return .later(within: nil) { _ in
                .text(audit.list(after: call.after, limit: limit, without: isHidden).json.serialized())
            }
        }
    }

    mutating func addLock(_ lock: LockService, _ presence: PresenceService) {
        later(AgentLock.self) { _ async throws(AgentError) in try await lock.lock() }
        onCaller(AgentUnlock.self) { call, caller in
            let subject = call.presence == true ? PresenceSubject(caller.identity(for: .program)) : nil
            return .later(within: nil) { _ async throws(AgentError) in
                guard call.presence == true else { return .value(try await lock.unlock(call).json) }
                let status = try await lock.unlock { () async throws(AgentError) in
                    guard let subject else { throw .presenceOfUnknownProgram }
                    try await presence.confirm(PresenceQuestion(.unlock, of: subject))
                }
                return .value(status.json)
            }
        }
        later(AgentPassphrase.self) { call async throws(AgentError) in try await lock.setPassphrase(call) }
    }

    mutating func addConsent(_ consent: ConsentService) {
        later(ConsentListGet.self) { _ async throws(AgentError) in try await consent.list() }
        onCaller(ConsentAnswerCall.self) { [access] call, caller throws(AgentError) in
            let facts = access.facts(of: caller, for: .program)
            guard case .text = facts.terminal, case .text = facts.loginSession,
                let subject = PresenceSubject(caller.identity(for: .program))
            else { throw .noLoginTerminal }
            let isHidden = HiddenSessions(access, for: caller)?.rule
            return .later(within: nil) { _ async throws(AgentError) in
                try await consent.answer(call, by: subject, without: isHidden)
                return .value(Nothing().json)
            }
        }
    }

    mutating func addPolicy(_ policy: PolicyRequests) {
        later(PolicyShow.self) { _ async throws(AgentError) in try await policy.show() }
        onCaller(PolicyTest.self) { [board] call, caller throws(AgentError) in
            let facts = policy.access.facts(of: caller, for: .program)
            let verdict = try policy.test(
                call, default: board.status(nil)?.session,
                confined: { listener in
                    let rules = policy.boundaryTables[listener]
                    return try? Visibility(rules, board, for: .socket(listener)).defaultSession()
                }, by: facts)
            return .now(.success(verdict.json))
        }
        later(PolicyReplay.self) { call async throws(AgentError) in try await policy.replay(call) }
        onCaller(PolicyApply.self) { call, caller in
            let facts = policy.access.facts(of: caller, for: .program)
            return .later(within: nil) { _ async throws(AgentError) in
                .value(try await policy.apply(call, by: facts).json)
            }
        }
    }

    mutating func addStore(_ store: StoreAdmin) {
        later(StoreUnlock.self) { call async throws(AgentError) in try await store.unlock(call) }
        let limit = Limits.changeOfAllSessions
        naming(StoreRekey.self, within: { _ in limit }, after: store.checkRekey) {
            call, names async throws(AgentError) in
            try await store.rekey(call, naming: names)
        }
        naming(StoreMigrate.self, within: { _ in limit }, after: store.checkMigrate) {
            call, names async throws(AgentError) in
            try await store.migrate(call, naming: names)
        }
        later(ClusterStatusGet.self) { _ async throws(AgentError) in try await store.clusterStatus() }
        later(ClusterJoin.self) { _ async throws(AgentError) in try await store.join() }
        later(ClusterAdmit.self) { call async throws(AgentError) in try await store.admit(call) }
        naming(ClusterForget.self, within: { _ in limit }) { call, names async throws(AgentError) in
            try await store.forget(call, naming: names)
        }
        later(SessionExport.self) { call async throws(AgentError) in try await store.export(call) }
        naming(SessionImport.self) { call, names async throws(AgentError) in
            try await store.importSessions(call, naming: names)
        }
    }
}

private protocol ProviderCall: AgentMethod<APIResponse> {
    var streams: Bool { get }
    var stream: String? { get }
    var queue: Bool { get }
    var timeout: Duration? { get }
}

extension APIRequest: ProviderCall {}
extension APICall: ProviderCall {}
