internal import AuthModel
internal import Synchronization

/// Sessions at the same provider usually have equal origins, but each record that is decoded, and each sign-in, has a
/// separate copy of some hundred bytes. Here equal ones share the memory of one.
final class CommonOrigins: Sendable {
    private struct Place: Hashable {
        let provider: String
        let environment: String
    }

    /// Above what the profiles of a user have. Records may name any environment.
    private static let most = 256

    private let last = Mutex<[Place: TokenOrigins]>([:])

    /// Replaces the origins of the record with equal ones of an earlier record, if there were any.
    func share(with record: inout SessionRecord) {
        guard let origins = record.origins else { return }
        let place = Place(provider: record.provider, environment: record.environment)
        record.origins = last.withLock { last in
            if let known = last[place], known == origins { return known }
            if last.count >= Self.most { last = [:] }
            last[place] = origins
            return origins
        }
    }
}
