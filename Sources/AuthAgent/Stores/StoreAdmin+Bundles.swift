internal import AuthConcurrency
import AuthModel
package import AuthWire

/// Sessions that are taken to another machine, sealed by a passphrase.
extension StoreAdmin {
    /// In base64 it fits into one line of the protocol.
    private static let mostBytes = 700 << 10
    /// The most JSON values in a bundle. At ``mostBytes`` that is eleven bytes per value; the records of real sessions
    /// have at least twenty.
    private static let mostValues = Limits.jsonValues

    package func export(_ params: SessionExport) async throws(AgentError) -> ExportResult {
        if let passphrase = params.passphrase, passphrase.count < SessionExport.shortestPassphrase {
            throw AgentError(
                .validation,
                "The passphrase of an export has \(SessionExport.shortestPassphrase) characters or more: anyone who "
                    + "gets the file can try passphrases for years.", cause: "new_passphrase")
        }
        let records = try await records(params.session)
        let list = JSON.array(records.compactMap { try? JSON(parsing: $0.encoded().revealBytes()) })
        let content = Secret(bytes: JSON.object(["sessions": list]).serialized())
        var bytes = params.passphrase == nil ? content.revealBytes() : []
        if let passphrase = params.passphrase {
            bytes = try await converting(
                SealRefusal.self, try await dependencies.bundles.close(content, with: Secret(passphrase)))
        }
        guard bytes.count <= Self.mostBytes, (try? Self.parsed(content)) != nil else {
            throw AgentError(.tooLarge, "The export is too large: name one session with -s.")
        }
        return ExportResult(bytes: bytes, sessions: records.map(\.session))
    }

    private func records(_ session: SessionName?) async throws(AgentError) -> [SessionRecord] {
        if let session { return [await (try await registry.session(session)).record] }
        guard registry.isLoaded else { throw .storeNotRead(context.board.store) }
        var records: [SessionRecord] = []
        for session in registry.all.sorted(by: { $0.name < $1.name }) { records.append(await session.record) }
        guard !records.isEmpty else { throw .noSession }
        return records
    }

    /// Imports all of them, or none; if some cannot be removed after an error, the message names them. If there are sessions here
    /// already, none of those that come becomes the default one.
    /// - Parameter names: the sessions that messages may name.
    package func importSessions(
        _ params: SessionImport, naming names: SessionNames = .all
    ) async throws(AgentError) -> ImportResult {
        var content = Secret(bytes: params.bytes)
        if let passphrase = params.passphrase {
            content = try await converting(
                SealRefusal.self, try await dependencies.bundles.open(params.bytes, with: Secret(passphrase)))
        }
        var records = try Self.records(in: content)
        guard registry.isLoaded else { throw .storeNotRead(context.board.store) }
        let taken = records.filter { registry.session(named: $0.session) != nil }.map(\.session)
        guard taken.isEmpty else {
            throw AgentError(
                .conflict, "These sessions exist already: \(names.list(taken)). Sign out of them first.")
        }
        if !registry.all.isEmpty {
            for index in records.indices {
                records[index].defaultSince = nil
                records[index].isDefaultImplied = false
            }
        }
        for (index, record) in records.enumerated() {
            do throws(StoreError) {
                try await store.save(record)
            } catch {
                let written = Array(records[...index])
                throw await withoutCancellation { await importFailed(error, removing: written, naming: names) }
            }
        }
        await loader.storeWasReplaced()
        return ImportResult(sessions: records.map(\.session))
    }

    /// - Parameter records: those to remove. The write of the last one failed, but it may be in the store.
    /// - Returns: the error for the user.
    private func importFailed(
        _ reason: StoreError, removing records: [SessionRecord], naming names: SessionNames
    ) async -> AgentError {
        var left: [SessionName] = []
        for record in records {
            do throws(StoreError) {
                _ = try await store.delete(record.session, of: record.signIn)
            } catch {
                left.append(record.session)
            }
        }
        var error = AgentError(reason)
        guard !left.isEmpty else { return error }
        // The user can sign out only of sessions that are listed.
        await loader.storeWasReplaced()
        error.message +=
            " These imported sessions could not be removed: \(names.list(left)). If they are listed, sign out of them."
        return error
    }

    private static func parsed(_ content: Secret) throws(JSONError) -> JSON {
        try JSON(parsing: content.revealBytes(), values: mostValues)
    }

    static func records(in content: Secret) throws(AgentError) -> [SessionRecord] {
        let json: JSON?
        do throws(JSONError) {
            json = try parsed(content)
        } catch {
            guard !error.isTooLarge else {
                throw AgentError(.tooLarge, "The file has more than \(mostValues) JSON values.")
            }
            json = nil
        }
        guard let list = json?["sessions"]?.arrayValue else {
            throw AgentError(.validation, "There are no sessions in it that this authd knows.")
        }
        var records: [SessionRecord] = []
        for json in list {
            do throws(DamagedRecord) {
                records.append(try SessionRecord(decoding: Secret(bytes: json.serialized())))
            } catch {
                throw AgentError(.validation, "One of the sessions in it is unreadable: \(error.reason).")
            }
        }
        return records
    }
}
