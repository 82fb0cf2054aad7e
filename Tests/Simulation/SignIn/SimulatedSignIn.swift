import AuthMachines
import AuthModel
import AuthWire

/// A sign-in, and what is known of it. An object, so that nothing copies the machine.
final class SimulatedSignIn {
    var machine: SignInMachine
    let way: SignInWay
    let account: Int
    var wakeUp: BootInstant?
    /// Those that have no reply yet, and since when they wait.
    var waiting: [CallerID: Duration] = [:]
    /// Those that asked for the step, even after the end.
    var joined: Set<CallerID> = []
    var starter: CallerID?
    var attempt: AuthorizationAttempt?
    var device = DeviceAnswer.pending
    /// Requests since the user did something, without those of a poll.
    var requests = 0
    /// When the next request of the poll may be sent.
    var pollsFrom: Duration?
    /// The last step that a caller got.
    var step: Step?
    var hasAgreed = false
    /// The session has its tokens.
    var hasInstalled = false
    var hasPlaceholder = false
    var isListening = false
    /// In the list of the service.
    var isInProgress = true
    var ends = 0

    init(machine: SignInMachine, way: SignInWay, account: Int) {
        self.machine = machine
        self.way = way
        self.account = account
    }
}

enum DeviceAnswer {
    case pending, approved, refused
}
