internal import AuthModel
internal import Synchronization

/// The last origins at each provider and environment, so that sessions with equal ones share their memory. Without it,
/// each decoded record and each sign-in has a separate copy of some hundred bytes.
final class CommonOrigins: Sendable {
    private struct Place: Hashable {
        let provider: String
        let environment: String
    }

    /// More than the profiles of a user need. There must be a limit, because records may name any environment.
    private static let maxEntries = 256

    private let last = Mutex<[Place: TokenOrigins]>([:])

    /// Replaces the origins of the record with equal ones of an earlier record, if there were any.
    func share(with record: inout SessionRecord) {
        guard let origins = record.origins else { return }
        let place = Place(provider: record.provider, environment: record.environment)
        record.origins = last.withLock { last in
            if let known = last[place], known == origins { return known }
            if last.count >= Self.maxEntries { last = [:] }
            last[place] = origins
            return origins
        }
    }
}
