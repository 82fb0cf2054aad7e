package import AuthModel
package import AuthWire

/// The newest entries of the audit log. Those of confined clients have a separate ring, so that no sandbox can replace the
/// entries of others.
///
/// Invariants: at most ``capacity`` entries, and at most a quarter of them of confined clients; each has a higher number than
/// the one before it; ``dropped`` is the number of those that were replaced.
package struct AuditRing: Sendable {
    /// The place of an entry.
    package struct Place: Sendable, Equatable {
        package let number: Int
        fileprivate let isConfined: Bool
        fileprivate let index: Int
    }

    package let capacity: Int
    private var own: Part
    private var confined: Part
    private var lastNumber = 0

    package init(capacity: Int) {
        self.capacity = max(2, capacity)
        confined = Part(capacity: max(1, capacity / 4))
        own = Part(capacity: self.capacity - confined.capacity)
    }

    /// Entries that were replaced by newer ones.
    package var dropped: Int { lastNumber - own.entries.count - confined.entries.count }

    /// - Returns: the entry with its number, its place, and the entry that it replaces.
    package mutating func append(_ entry: AuditEntry) -> (AuditEntry, Place, replaced: AuditEntry?) {
        lastNumber += 1
        let entry = entry.numbered(lastNumber)
        let isConfined = entry.isConfined
        let (index, replaced) = isConfined ? confined.append(entry) : own.append(entry)
        return (entry, Place(number: lastNumber, isConfined: isConfined, index: index), replaced)
    }

    /// Counts one more request like that of this entry.
    /// - Returns: `false` if the entry is not here any more, or has ended.
    package mutating func repeated(_ place: Place, at now: BootInstant) -> Bool {
        place.isConfined ? confined.repeated(place, at: now) : own.repeated(place, at: now)
    }

    /// No more requests are counted in this entry.
    /// - Returns: it, if it is still here.
    package mutating func end(_ place: Place) -> AuditEntry? {
        guard self[place] != nil else { return nil }
        if place.isConfined { confined.end(place) } else { own.end(place) }
        return self[place]
    }

    package subscript(place: Place) -> AuditEntry? {
        let entry = (place.isConfined ? confined : own).entries[place.index]
        return entry.number == place.number ? entry : nil
    }

    /// Entries, oldest first.
    /// - Parameters:
    ///   - number: the next ones after this number, so that none is left out; `nil`: the newest ones.
    ///   - limit: how many at most.
    ///   - isHidden: entries about these sessions are left out. Called once for each session: it may compare many rules.
    package func entries(
        after number: Int?, limit: Int, without isHidden: ((SessionName) -> Bool)? = nil
    ) -> [AuditEntry] {
        var found = (own.entries + confined.entries).sorted { $0.number < $1.number }
        if let isHidden {
            var verdicts: [SessionName: Bool] = [:]
            found.removeAll { entry in
                guard let session = entry.request.session else { return false }
                if let verdict = verdicts[session] { return verdict }
                let verdict = isHidden(session)
                verdicts[session] = verdict
                return verdict
            }
        }
        guard let number else { return found.suffix(max(0, limit)) }
        return Array(found.drop { $0.number <= number }.prefix(max(0, limit)))
    }

    private struct Part {
        let capacity: Int
        private(set) var entries: [AuditEntry] = []
        /// The oldest entry, if there are as many as fit.
        private var oldest = 0

        init(capacity: Int) { self.capacity = capacity }

        /// - Returns: its index, and the entry that it replaces.
        mutating func append(_ entry: AuditEntry) -> (Int, AuditEntry?) {
            if entries.count < capacity {
                entries.append(entry)
                return (entries.count - 1, nil)
            }
            let (index, replaced) = (oldest, entries[oldest])
            entries[index] = entry
            oldest = (oldest + 1) % capacity
            return (index, replaced)
        }

        mutating func end(_ place: Place) { entries[place.index].hasEnded = true }

        /// Reads only the number: a copy of the whole entry would retain each of its texts.
        mutating func repeated(_ place: Place, at now: BootInstant) -> Bool {
            guard entries[place.index].number == place.number, !entries[place.index].hasEnded else { return false }
            entries[place.index].count += 1
            entries[place.index].last = now
            return true
        }
    }
}
