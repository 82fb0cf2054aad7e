import AuthMachines
import AuthModel
import AuthWire

/// A sign-in, and what is known of it.
struct SimulatedSignIn {
    var machine: SignInMachine
    let way: SignInWay
    let account: Int
    var wakeUp: BootInstant?
    /// Those that have no reply yet, and since when they wait.
    var waiting: [CallerID: Duration] = [:]
    var starter: CallerID?
    var attempt: AuthorizationAttempt?
    var device = DeviceAnswer.pending
    /// The last step that a caller got.
    var step: Step?
    var hasAgreed = false
    var hasPlaceholder = false
    var isListening = false
    /// In the list of the service.
    var isInProgress = true
    var ends = 0
}

enum DeviceAnswer {
    case pending, approved, refused
}
