import AuthModel
package import AuthWire

/// Sessions that are moved to another store.
extension StoreAdmin {
    /// - Throws: what ``migrate(_:)`` would throw because the user has not agreed to the end of sessions elsewhere.
    package func checkMigrate(_ params: StoreMigrate) async throws(AgentError) {
        guard params.to != store.kind else { return }
        try await checkMoveAway(params)
    }

    /// Moves every session to another store. Until all of them are there, and the next start is to look there, they are
    /// in the old one; from then on in the new one.
    /// - Parameter names: the sessions that messages may name.
    package func migrate(
        _ params: StoreMigrate, naming names: SessionNames = .all
    ) async throws(AgentError) -> MessageResult {
        let kind = params.to
        guard kind != .memory else {
            throw AgentError(
                .unsupported, "Sessions cannot be moved to memory: start authd with --store memory instead.")
        }
        guard kind != store.kind else {
            return MessageResult(message: "Sessions are in \(kind.rawValue) already.")
        }
        if let configured = await dependencies.configuredStore(), configured != kind {
            throw AgentError(
                .conflict,
                "--store or authd.toml selects \(configured.rawValue) for the next start: remove that, or set "
                    + "store = \"\(kind.rawValue)\".")
        }
        guard registry.isLoaded else { throw .storeNotRead(context.board.store) }
        try await checkMoveAway(params)
        let target = try await converting(StoreError.self, try await dependencies.open(kind))
        try await unlock(target, params.passphrase)
        guard permit.acquire() else { throw AgentError(.busy, "Sessions are being moved already.", cause: "moving") }
        defer { permit.release() }
        // Copies that an unfinished move left there are not sessions: they must not return with this move.
        for former in await unfinishedMoves() where former.place(whileIn: store.kind) == kind {
            guard await finish(former, in: target, sessionsIn: store).isEmpty else {
                throw AgentError(
                    .keyringUnavailable,
                    "Copies that an earlier move left in \(kind.rawValue) cannot be removed yet. Try again later.")
            }
        }
        var (moved, left, unreadableClients) = (0, [UnfinishedMove.Copy](), [String]())
        try await registry.withoutRenewals { held throws(AgentError) in
            try await store.move { source throws(AgentError) in
                let move = StoreMove(source: source, target: target, names: names)
                let plan = try await move.plan()
                unreadableClients = try await copy(plan, move, held)
                left = await removeCopies(of: move.unfinished(.copied, plan.records), in: source, sessionsIn: target)
                moved = plan.records.count
                return target
            }
        }
        await loader.storeWasReplaced()
        let rest =
            left.isEmpty ? "" : " Not yet removed from the old store: \(names.list(left.map(\.session)))."
        let message = "Sessions moved to \(kind.rawValue): \(moved).\(rest)" + Self.text(unreadableClients)
        return MessageResult(message: message)
    }

    /// Copies everything and selects the new store for the next start. After an error the copies are removed, now or by the next
    /// start. If it is unknown which store is selected, both keep everything.
    /// - Returns: what ``StoreMove/copy(_:)`` returns.
    private func copy(
        _ plan: StoreMove.Plan, _ move: StoreMove, _ held: HeldSessions
    ) async throws(AgentError) -> [String] {
        let copying = move.unfinished(.copying, plan.added)
        let unreadableClients: [String]
        do throws(AgentError) {
            try await converting(StoreError.self, try await save(copying))
            unreadableClients = try await move.copy(plan.records)
            try await move.requireUnchanged(plan.records)
            guard await held.cover(plan.records.map(\.session)) else { throw .usedElsewhere }
            try await converting(StoreError.self, try await save(move.unfinished(.copied, plan.records)))
        } catch {
            _ = await removeCopies(of: copying, in: move.target, sessionsIn: move.source)
            throw error
        }
        do throws(StoreError) {
            try await dependencies.choose(move.target.kind)
        } catch {
            // The next start may look in either store now. Copies are removed only if the old one is certainly selected again.
            if (try? await dependencies.choose(move.source.kind)) != nil {
                _ = await removeCopies(of: copying, in: move.target, sessionsIn: move.source)
            }
            throw AgentError(error)
        }
        return unreadableClients
    }

    private static func text(_ unreadableClients: [String]) -> String {
        guard !unreadableClients.isEmpty else { return "" }
        return " The clients that are registered at these providers cannot be read and were not moved: "
            + "\(unreadableClients.joined(separator: ", ")). The next sign-in there registers a new client; sessions keep theirs."
    }
}
