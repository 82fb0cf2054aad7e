package import AuthModel
package import GLibRuntime

/// Has polkit ask the user (org.freedesktop.PolicyKit1.Authority). polkitd and the helper that checks the password run as other
/// users, so programs of this user cannot answer.
///
/// It connects to the system bus when something is asked for the first time.
///
/// Invariant: each check has one answer.
/// @unchecked Sendable: mutable state is used on `thread` only.
package final class PolkitPresence: PresenceCheck, @unchecked Sendable {
    private struct Check {
        let question: PresenceQuestion
        let answer: (PresenceAnswer) -> Void
        /// `nil` while the bus is being connected.
        var operation: (any GLibOperation)?
    }

    private static let name = "org.freedesktop.PolicyKit1"
    private static let path = "/org/freedesktop/PolicyKit1/Authority"
    private static let interface = "org.freedesktop.PolicyKit1.Authority"
    /// AllowUserInteraction, of CheckAuthorizationFlags.
    private static let mayInteract: UInt32 = 1
    /// A bus on this machine replies in milliseconds or not at all.
    private static let timeout = Duration.seconds(5)

    private let thread: GLibThread
    private let address: String?
    private var bus: BusConnection?
    private var closing: GLibSubscription?
    private var isConnecting = false
    private var checks: [UInt64: Check] = [:]

    /// - Parameter systemBus: its address; `nil` if there is none.
    package init(on thread: GLibThread, systemBus: String?) {
        self.thread = thread
        address = systemBus
    }

    package func ask(_ question: PresenceQuestion, number: UInt64) async -> PresenceAnswer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                thread.perform { [self] in
                    checks[number] = Check(question: question, answer: { continuation.resume(returning: $0) })
                    if bus == nil { connect() } else { begin(number) }
                }
            }
        } onCancel: {
            withdraw(number)
        }
    }

    package func withdraw(_ number: UInt64) {
        thread.perform { [self] in
            guard let check = checks[number] else { return }
            guard let operation = check.operation else { return end(number, .withdrawn) }
            cancel(number)
            operation.abandon(.cancelled)
        }
    }

    // MARK: On the GLib thread

    private func end(_ number: UInt64, _ answer: PresenceAnswer) { checks.removeValue(forKey: number)?.answer(answer) }

    private func connect() {
        guard !isConnecting else { return }
        guard let address else { return connected(.failure(.ended)) }
        isConnecting = true
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [self] in connected($0) }
    }

    private func connected(_ result: Result<BusConnection, GLibFailure>) {
        isConnecting = false
        let waiting = checks.filter { $0.value.operation == nil }.keys.sorted()
        switch result {
        case .success(let bus):
            self.bus = bus
            closing = bus.whenClosed { [weak self] in
                self?.bus = nil
                self?.closing = nil
            }
            for number in waiting { begin(number) }
        case .failure(let failure):
            for number in waiting { end(number, .unavailable("there is no system bus (\(failure.words))")) }
        }
    }

    private func begin(_ number: UInt64) {
        guard let bus, let question = checks[number]?.question else { return }
        let arguments = BusVariant(tuple: [
            Self.subject(question.subject), BusVariant(string: question.action.polkitAction),
            BusVariant(strings: [(key: String, value: String)]()),
            BusVariant(uint32: Self.mayInteract), BusVariant(string: Self.cancellation(number)),
        ])
        let call = bus.calling(
            method("CheckAuthorization"), arguments: arguments, reply: "((bba{ss}))", startingService: true
        ) { Self.answer($0.members.first?.members ?? []) }
        let operation = thread.begin(call, limit: nil) { [weak self] result in
            switch result {
            case .success(let answer): self?.end(number, answer)
            case .failure(.cancelled): self?.end(number, .withdrawn)
            case .failure(let failure): self?.end(number, .unavailable(failure.words))
            }
        }
        checks[number]?.operation = operation
    }

    /// The dialog of the check disappears.
    private func cancel(_ number: UInt64) {
        guard let bus else { return }
        let call = bus.calling(
            method("CancelCheckAuthorization"),
            arguments: BusVariant(tuple: [BusVariant(string: Self.cancellation(number))]), reply: "()"
        ) { _ in true }
        thread.begin(call, limit: Self.timeout) { _ in }
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(destination: Self.name, path: Self.path, interface: Self.interface, member: member)
    }

    private static func cancellation(_ number: UInt64) -> String { "authd-\(number)" }

    /// polkit compares the start time, so that a later process with the same number is not meant.
    private static func subject(_ subject: PresenceSubject) -> BusVariant {
        BusVariant(tuple: [
            BusVariant(string: "unix-process"),
            BusVariant(table: [
                ("pid", BusVariant(uint32: UInt32(bitPattern: subject.processID))),
                ("start-time", BusVariant(uint64: subject.startTicks)),
                ("uid", BusVariant(int32: Int32(bitPattern: subject.userID))),
            ]),
        ])
    }

    /// - Parameter result: whether it is authorized, whether it would be if the user was asked, and details.
    private static func answer(_ result: [BusVariant]) -> PresenceAnswer? {
        guard result.count == 3, let isAuthorized = result[0].bool, let isChallenge = result[1].bool else { return nil }
        if isAuthorized { return .passed }
        return isChallenge ? .noAgent : .refused
    }
}

extension GLibFailure {
    /// Without a full stop.
    fileprivate var words: String {
        switch self {
        case .error(let error):
            error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        case .timedOut: "no reply"
        case .cancelled, .ended: "it was not asked"
        }
    }
}
