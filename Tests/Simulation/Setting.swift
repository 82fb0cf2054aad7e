import AuthModel

/// What stays the same during one schedule: the provider's ways, and how quick everything is on a good day.
package struct Setting: Sendable, Equatable {
    package var sessions = 1
    /// Agents at one store, each with all sessions: as on two machines that share a keyring.
    package var agents = 1
    /// The lifetime of an access token; `nil`: the provider does not state it.
    package var life: Duration? = .seconds(3600)
    package var rotation = Rotation.rotating(grace: .zero, reuse: .revokes)
    /// It refuses renewals as long as its newest access token is valid for longer than this; `nil`: it never does.
    package var renewsBeforeEnd: Duration?
    package var targets = TargetSchedule.grants
    /// A revoked refresh token ends its access tokens too.
    package var revokesFamily = true
    /// From a request to its answer.
    package var answerTime = Duration.milliseconds(10)...Duration.milliseconds(500)
    /// The time of one store call.
    package var storeTime = Duration.milliseconds(1)...Duration.milliseconds(20)
    /// What outlives the process beside the store is handed to the next one (sd_notify(3), FDSTORE).
    package var handsOver = false
    /// The store compares a record with what it has and writes it in one step. The Secret Service cannot: a write of another
    /// agent between the two steps is overwritten.
    package var hasAtomicUpdates = true
    /// The store reports changes by other programs.
    package var reportsChanges = false
    /// After the last fault everything is quiet for this long, and has to stay well.
    package var quiet = Duration.seconds(3600)

    package init() {}

    /// What a renewal asks with, and what becomes of that.
    package enum Rotation: Sendable, Equatable {
        /// The refresh token stays the same.
        case fixed
        /// Each renewal brings a new one; the one before is accepted for `grace` more, for lost responses.
        case rotating(grace: Duration, reuse: Reuse)
        /// There is no refresh token: a renewal extends the access token.
        case sliding
        /// There is no refresh token: the access token brings the next one, as long as it is live.
        case bearer
        /// Nothing renews it.
        case none
    }

    /// What a provider does about a refresh token that was used before.
    package enum Reuse: Sendable, Equatable {
        case refuses
        /// It ends the whole family: RFC 9700 §4.14.2.
        case revokes
    }

    /// What a provider does about a token for a scope or a separate audience.
    package enum TargetSchedule: Sendable, Equatable {
        case grants, refuses
        /// It grants less than was asked for.
        case narrows
    }

    var means: RenewalMeans {
        switch rotation {
        case .none: .none
        case .sliding, .bearer: .liveToken
        case .fixed, .rotating: .lasting
        }
    }

    var canRenew: Bool { means != .none }
    /// Machines in all.
    var seats: Int { sessions * agents }
}
