import AuthMachines
package import AuthModel
import AuthWire
import Synchronization

/// Refuses sign-ins of a program that begins too many.
package final class SignInLimit: Sendable {
    /// The cause of its errors.
    static let cause = "sign_in_limit"
    /// What may send an e-mail, a code or a password each time. `login.lend` counts once the user has agreed.
    static let methods: Set<String> = [
        LoginStart.name, LoginAnswer.name, LoginResend.name, PasswordSet.name, PasswordChange.name,
        PasswordRequestReset.name, PasswordReset.name,
    ]
    /// A sign-in may have several steps, and answers that are corrected. They have a separate allowance.
    static let answersPerSignIn = 4

    private struct Contents {
        var allowances = SignInAllowances()
        var answers = SignInAllowances()
        var perHour: Int
    }

    private let inside: Mutex<Contents>
    private let clock: any SystemClock

    package init(clock: any SystemClock, perHour: Int = Settings.defaultSignInsPerHour) {
        self.clock = clock
        inside = Mutex(Contents(perHour: perHour))
    }

    /// With another limit all allowances are whole again.
    package func change(perHour: Int) {
        inside.withLock { if $0.perHour != perHour { $0 = Contents(perHour: perHour) } }
    }

    /// Counts a sign-in, or an answer of one.
    /// - Parameter method: one of ``methods``, or `login.lend`.
    /// - Throws: `busy` if there were too many.
    func spend(_ caller: CallerIdentity, for method: String = LoginStart.name) throws(AgentError) {
        let now = clock.now().boot
        let isAnswer = method == LoginAnswer.name
        let wait = inside.withLock { inside in
            let perHour = inside.perHour * (isAnswer ? Self.answersPerSignIn : 1)
            let kind = isAnswer ? \Contents.answers : \Contents.allowances
            return inside[keyPath: kind].spend(caller.unit, of: caller.userID, perHour: perHour, at: now)
        }
        guard let wait else { return }
        throw AgentError(
            .busy,
            "Too many \(isAnswer ? "steps of sign-ins were answered" : "sign-ins were begun") within an hour: "
                + "try again later, or raise sign_ins_per_hour in authd.toml.",
            cause: Self.cause, retryAfter: wait)
    }
}
