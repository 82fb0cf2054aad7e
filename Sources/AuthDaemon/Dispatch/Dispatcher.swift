package import AuthCore
import AuthWire

/// Says how each request is answered. It answers from memory what memory knows, without a task or an actor's turn.
package struct Dispatcher: Sendable {
    private let table: SessionTable
    private let desk: LoginDesk
    private let api: APIDesk
    private let outbox: OutboxDesk
    private let store: StoreDesk
    private let services: AgentServices
    private let limits: ConnectionLimits

    package init(
        table: SessionTable, desk: LoginDesk, api: APIDesk, outbox: OutboxDesk, store: StoreDesk,
        services: AgentServices,
        limits: ConnectionLimits = ConnectionLimits()
    ) {
        self.table = table
        self.desk = desk
        self.api = api
        self.outbox = outbox
        self.store = store
        self.services = services
        self.limits = limits
    }

    func answer(_ request: RPCRequest) -> Answer {
        do throws(AgentError) {
            let read = try AgentRequest(method: request.method, params: request.params)
            try ParamNames.check(read.method, request.params)
            return try answer(read)
        } catch {
            return .now(.failure(error))
        }
    }

    private func answer(_ request: AgentRequest) throws(AgentError) -> Answer {
        switch request {
        case .tokenGet(let params):
            if let token = table.liveToken(params) { return .rendered(token.json) }
            return later(params.timeout) { () async throws(AgentError) in try await table.token(params).json }
        case .agentPing: return memory(services.pong.json)
        case .agentInfo: return memory(services.info(store: table.board.store).json)
        case .agentStats: return memory(services.stats(board: table.board).json)
        case .rpcDiscover: return .rendered(Discovery.text)
        case .networkStatus: return memory(table.board.network.json)
        case .sessionList:
            return try known { () throws(AgentError) in SessionList(sessions: try table.list()).json }
        case .sessionStatus(let params):
            return try known { () throws(AgentError) in try table.status(params.session).json }
        case .providerList: return memory(ProviderList(providers: table.catalog.profiles.list.map(\.summary)).json)
        case .providerShow(let params):
            guard let profile = table.catalog.profiles[params.provider] else { throw .unknownProvider(params.provider) }
            return memory(profile.detail.json)

        case .eventsSubscribe(let params): return .subscribe(params)
        case .eventsUnsubscribe(let params): return .unsubscribe(params)

        case .tokenReject(let params):
            return later { () async throws(AgentError) in try await table.reject(params).json }
        case .tokenProof(let params):
            return later { () async throws(AgentError) in try await table.proof(params).json }
        case .sessionUse(let params):
            return later { () async throws(AgentError) in try await table.use(params).json }
        case .sessionRefresh(let params):
            return later { () async throws(AgentError) in try await table.refresh(params).json }
        case .sessionValidate(let params):
            return later { () async throws(AgentError) in try await table.validate(params).json }
        case .sessionLogout(let params):
            return later { () async throws(AgentError) in try await table.logout(params).json }
        case .sessionWait(let params):
            return later(params.timeout) { () async throws(AgentError) in try await table.wait(params).json }
        case .userGet(let params):
            return later { () async throws(AgentError) in try await table.user(params).json }
        case .loginStart(let params):
            return later { () async throws(AgentError) in try await desk.start(params).json }
        case .loginAnswer(let params):
            return later { () async throws(AgentError) in try await desk.answer(params).json }
        case .loginWait(let params):
            return later { () async throws(AgentError) in try await desk.wait(params).json }
        case .loginCancel(let params):
            return later { () async throws(AgentError) in try await desk.cancel(params).json }
        case .loginResend(let params):
            return later { () async throws(AgentError) in try await desk.resend(params).json }
        case .loginRedirect(let params):
            return later { () async throws(AgentError) in
                try await desk.redirect(params)
                return .object([:])
            }
        case .passwordSet(let params):
            return later { () async throws(AgentError) in try await desk.start(.set, params).json }
        case .passwordChange(let params):
            return later { () async throws(AgentError) in try await desk.start(.change, params).json }
        case .passwordRequestReset(let params):
            return later { () async throws(AgentError) in try await desk.start(.requestReset, params).json }
        case .passwordReset(let params):
            return later { () async throws(AgentError) in try await desk.start(.reset, params).json }
        case .userUpdate(let params):
            return later { () async throws(AgentError) in try await table.updateUser(params).json }
        case .apiRequest(let params) where params.queue:
            return laterText(params.timeout) { () async throws(AgentError) in
                try await outbox.post(.request(params)).rendered
            }
        case .apiCall(let params) where params.queue:
            return laterText(params.timeout) { () async throws(AgentError) in
                try await outbox.post(.call(params)).rendered
            }
        case .apiRequest(let params) where params.streams:
            return .open(
                StreamOpening(
                    name: params.stream ?? "",
                    make: { tell throws(AgentError) in try api.stream(for: params, tell: tell) },
                    run: { await api.carry(params, by: $0) }))
        case .apiCall(let params) where params.streams:
            return .open(
                StreamOpening(
                    name: params.stream ?? "",
                    make: { tell throws(AgentError) in try api.stream(for: params, tell: tell) },
                    run: { await api.carry(params, by: $0) }))
        case .apiWrite(let params):
            return .onStream(params.stream) { stream in
                .later(within: limits.longestAnswer) { () async throws(AgentError) in
                    .value(try await stream.write(params).json)
                }
            }
        case .apiRead(let params):
            return .onStream(params.stream) { stream in
                .later(within: limits.longestAnswer) { () async throws(AgentError) in
                    .value(try await stream.read().json)
                }
            }
        case .apiClose(let params):
            return .onStream(params.stream) { stream in
                stream.close(.streamClosed)
                return .now(.success(.object([:])))
            }
        case .apiRequest(let params):
            return laterText(params.timeout) { () async throws(AgentError) in try await api.request(params).rendered }
        case .apiCall(let params):
            return laterText(params.timeout) { () async throws(AgentError) in try await api.call(params).rendered }
        case .providerCheck(let params):
            return later { () async throws(AgentError) in try await services.checkProfile(params).json }
        case .providerForget(let params):
            return later { () async throws(AgentError) in try await desk.forgetProvider(params).json }
        case .agentReload(let params):
            return later { () async throws(AgentError) in try await services.reload(params).json }

        case .outboxList(let params):
            return later { () async throws(AgentError) in try await outbox.list(params).json }
        case .outboxFlush(let params):
            return later { () async throws(AgentError) in try await outbox.flush(params).json }
        case .outboxDrop(let params):
            return later { () async throws(AgentError) in try await outbox.drop(params).json }

        case .agentUnlock(let params):
            return later { () async throws(AgentError) in try await store.unlock(params).json }
        case .storeRekey(let params):
            return later { () async throws(AgentError) in try await store.rekey(params).json }

        case .storeMigrate(let params):
            return later { () async throws(AgentError) in try await store.migrate(params).json }
        case .sessionExport(let params):
            return later { () async throws(AgentError) in try await store.export(params).json }
        case .sessionImport(let params):
            return later { () async throws(AgentError) in try await store.take(params).json }
        case .sessionTrust(let params):
            return later { () async throws(AgentError) in try await table.trust(params).json }

        case .agentLock:
            throw AgentError(
                .unsupported,
                "\(request.method.rawValue) is not in this version (\(Release.version)); rpc.discover tells what is.")
        }
    }

    private func memory(_ json: JSON) -> Answer { .now(.success(json)) }

    /// From memory, unless the store has not been asked yet: then what is not in memory may still be there.
    private func known(_ read: @escaping @Sendable () throws(AgentError) -> JSON) throws(AgentError) -> Answer {
        guard isStarting else { return memory(try read()) }
        return later { () async throws(AgentError) in try read() }
    }

    private var isStarting: Bool { table.board.store.state == .starting }

    /// - Parameter asked: the caller's own patience.
    private func later(
        _ asked: Duration? = nil, _ work: @escaping @Sendable () async throws(AgentError) -> JSON
    ) -> Answer {
        afterStart(asked) { () async throws(AgentError) in .value(try await work()) }
    }

    /// The same for a result that may be large, and is JSON text already.
    private func laterText(
        _ asked: Duration?, _ work: @escaping @Sendable () async throws(AgentError) -> [UInt8]
    ) -> Answer {
        afterStart(asked) { () async throws(AgentError) in .text(try await work()) }
    }

    private func afterStart(_ asked: Duration?, _ work: @escaping RequestTask.Work) -> Answer {
        let limit = asked.map { min($0, limits.longestAnswer) } ?? limits.answer
        guard isStarting else { return .later(within: limit, work) }
        return .later(within: limit) { [board = table.board] () async throws(AgentError) in
            for await _ in board.changes() where board.store.state != .starting { break }
            return try await work()
        }
    }
}
