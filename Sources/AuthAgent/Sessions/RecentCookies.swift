import AuthModel
import Synchronization

/// Cookies from a session's API calls since its record was made.
///
/// They are in memory only: the next renewal sends them and stores them with the tokens. A record that another renewal or
/// program has changed meanwhile has newer ones.
final class RecentCookies: Sendable {
    private struct Recent {
        let signIn: SignInID
        /// Those of the record.
        let former: CookieJar
        var present: CookieJar

        func isAbout(_ record: SessionRecord) -> Bool {
            signIn == record.signIn && former == record.tokens.cookies
        }
    }

    private let recent = Mutex<Recent?>(nil)

    /// The record with the cookies that are known now.
    func added(to record: SessionRecord) -> SessionRecord {
        guard let recent = recent.withLock({ $0 }), recent.isAbout(record) else { return record }
        var record = record
        record.tokens.cookies = recent.present
        return record
    }

    /// - Parameter record: as the session has it.
    func store(_ reply: HTTPResponse, from url: String, sentAt: WallTime, of record: SessionRecord) {
        recent.withLock { recent in
            let known = recent.flatMap { $0.isAbout(record) ? $0 : nil }
            var next =
                known
                ?? Recent(signIn: record.signIn, former: record.tokens.cookies, present: record.tokens.cookies)
            next.present.store(reply, from: url, sentAt: sentAt)
            recent = next
        }
    }
}
