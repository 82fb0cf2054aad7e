import AuthModel
import AuthWire

/// Lifetimes of tokens, without a comparison of two hosts' clocks.
extension EtcdStore {
    /// The content of an entry in etcd: the record, and what is left of its tokens now.
    func content(of record: SessionRecord) -> Secret {
        guard var object = record.json.objectValue else { return record.encoded() }
        for (name, value) in SharedLifetimes.Rest(of: record, at: clock.now().wall).members { object[name] = value }
        return Secret(bytes: JSON.object(object).serialized())
    }

    /// What was written a moment ago, with dates of this host.
    func justWritten(_ content: Secret) -> SessionRecord? {
        guard let record = try? SessionRecord(decoding: content) else { return nil }
        return localized(record, content, age: .zero)
    }

    /// The record of an entry, with dates of this host.
    func localized(_ record: SessionRecord, _ content: Secret, in entry: EtcdEntry) async throws(StoreError)
        -> SessionRecord
    {
        // Other hosts' dates are not used without their age.
        let age = lifetimes.knows(record) ? .zero : try await age(of: record, content, in: entry)
        return localized(record, content, age: age)
    }

    private func localized(_ record: SessionRecord, _ content: Secret, age: Duration) -> SessionRecord {
        let rest = SharedLifetimes.Rest(try? JSON(parsing: content.revealBytes()))
        return lifetimes.localized(record, rest: rest, age: age, now: clock.now().wall)
    }

    /// The time since the entry was written: by this host's boot clock if the watch has reported it, else by etcd.
    private func age(
        of record: SessionRecord, _ content: Secret, in entry: EtcdEntry
    ) async throws(StoreError) -> Duration {
        if let last = reported[record.session], last.revision == entry.modRevision {
            return clock.bootInstant - last.at
        }
        let rest = SharedLifetimes.Rest(try? JSON(parsing: content.revealBytes()))
        guard let left = rest.access else { return .zero }
        guard let life = try await read(places.life(record.session)), life.lease != 0 else { return left }
        let seconds = try await call(.rest(of: life.lease)).leaseSeconds()
        return max(.zero, left - .seconds(max(0, seconds)))
    }

    /// A lease that ends with the access token.
    func grantLife(of record: SessionRecord) async throws(StoreError) -> Int64? {
        let rest = SharedLifetimes.Rest(of: record, at: clock.now().wall)
        guard let left = rest.access else { return nil }
        let seconds = max(1, Int64(left.seconds.rounded(.up)))
        guard let lease = try await call(.grantLease(seconds: seconds)).leaseID() else {
            throw .cluster(.invalid(reason: "a lease without a number"))
        }
        return lease
    }

    /// Nothing of a session that is gone counts for the next one of its name.
    func forget(_ session: SessionName) {
        lifetimes.forget(session)
        holds[session] = nil
    }
}
