import AuthModel
import AuthWire

/// Lifetimes of tokens, without a comparison of two hosts' clocks.
extension EtcdStore {
    /// The content of an entry in etcd: the record, what is left of its tokens, and the former sign-ins.
    /// - Parameters:
    ///   - start: when the write began, by the clock that the dates of the record are from.
    ///   - former: what the record that is replaced shows.
    func sharedContent(
        of record: SessionRecord, at start: Moment, replacing former: FormerSignIns? = nil
    ) -> Secret {
        guard var object = record.json.objectValue else { return record.encoded() }
        for (name, value) in SharedLifetimes.Remaining(of: record, at: start.wall).members {
            object[name] = value
        }
        FormerSignIns.add(
            view.signIns(before: record.signIn, of: record.session, replacing: former), to: &object)
        return Secret(bytes: JSON.object(object).serialized())
    }

    /// The record with dates of this host.
    func localized(
        _ record: SessionRecord, _ content: JSON?, _ lifetime: LifetimeLease
    ) async throws(StoreError) -> SessionRecord {
        let remaining = SharedLifetimes.Remaining(content)
        // Other hosts' dates are not used without their age.
        let age =
            lifetimes.knows(record) ? SharedLifetimes.Age() : try await age(of: record.session, remaining, lifetime)
        return lifetimes.localized(record, remaining: remaining, age: age, at: clock.now())
    }

    /// The time since the record was written, as etcd has measured it: a host that was stopped gets late reports.
    private func age(
        of session: SessionName, _ remaining: SharedLifetimes.Remaining, _ lifetime: LifetimeLease
    ) async throws(StoreError) -> SharedLifetimes.Age {
        guard let left = remaining.access, left <= EtcdLimits.longestLifetime else {
            return SharedLifetimes.Age(isExact: false)
        }
        let lease =
            switch lifetime {
            case .found(let lease): lease
            case .unread: try await read(places.lifetime(session))?.lease ?? 0
            }
        guard lease != 0 else { return SharedLifetimes.Age(time: left, isExact: false) }
        let start = clock.bootInstant
        let seconds = try await call(.timeToLive(of: lease)).leaseSeconds()
        guard seconds > 0 else { return SharedLifetimes.Age(time: left, isExact: false) }
        // This host may have been stopped before it got the response.
        return SharedLifetimes.Age(time: max(.zero, left - .seconds(seconds)) + (clock.bootInstant - start))
    }

    /// A lease that ends with the access token; `nil`: its end is unknown or far away.
    /// - Parameter start: when the write began. The clock may have been set since; the record has the dates of before.
    func grantLifetime(of record: SessionRecord, writtenFrom start: Moment) async throws(StoreError) -> Int64? {
        let remaining = SharedLifetimes.Remaining(of: record, at: start.date(of: clock.bootInstant))
        guard let left = remaining.access, left <= EtcdLimits.longestLifetime else { return nil }
        let seconds = max(1, Int64(left.seconds.rounded(.up)))
        guard let lease = try await call(.grantLease(seconds: seconds)).leaseID() else {
            throw .cluster(.invalid(reason: "a lease without a number"))
        }
        return lease
    }
}
