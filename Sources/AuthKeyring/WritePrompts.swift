import AuthModel
import GLibRuntime

/// For services that ask the user about each write. The user may take any time and is asked one question at a time. After a
/// refusal there is no further question until the user is present.
///
/// Invariant: at most one prompt is shown. Used on the GLib thread only.
final class WritePrompts {
    enum Answer: Sendable {
        /// With the path of the item if one was written.
        case agreed(path: String?)
        case dismissed
    }

    private struct Shown {
        let number: Int
        let path: String
        let completion: GLibSubscription
        let answer: GIOCall<Answer>.Answer
        let written: (String) -> Void
        var isWithdrawn = false
    }

    static let interface = "org.freedesktop.Secret.Prompt"

    /// Receives the user's answer, or `nil` for a prompt that has ended without one.
    var ended: ((Answer?) -> Void)?

    private let thread: GLibThread
    private var shown: Shown?
    /// The default collection, if it was open when it was last read.
    private var openCollection: String?
    private var wasDismissed = false
    private var number = 0

    init(on thread: GLibThread) {
        self.thread = thread
    }

    /// The user has refused a write, and may be asked again only when present.
    var isRefused: Bool { shown == nil && wasDismissed }

    var obstacle: StoreError? {
        if shown != nil { return .waiting }
        return wasDismissed ? .denied(reason: "the user denied the keyring's request to write") : nil
    }

    /// - Returns: whether there was one.
    func forgetDismissal() -> Bool {
        defer { wasDismissed = false }
        return wasDismissed
    }

    /// The service that asked is gone.
    func forget() {
        wasDismissed = false
        openCollection = nil
        fail(number, .cancelled)
    }

    /// Ends a prompt about a collection that is not open any more: a service may never answer it. This is not a refusal: the user is
    /// asked again at the next write.
    func follow(_ found: CollectionWatch.Found, on bus: BusConnection?) {
        let former = openCollection
        switch found {
        case .open(let path): openCollection = path
        case .locked, .none: openCollection = nil
        case .gone: return
        }
        if let former, former != openCollection, let bus { dismiss(on: bus) }
    }

    private func dismiss(on bus: BusConnection) {
        guard let prompt = shown?.path else { return }
        shown?.isWithdrawn = true
        let (number, method) = (number, Self.method("Dismiss", of: prompt))
        thread.begin(bus.calling(method, arguments: nil, reply: "()") { _ in true }, limit: nil) { [weak self] _ in
            // Usually it has completed by now.
            self?.fail(number, .cancelled)
        }
    }

    /// The user's answer, as long as the caller waits; later answers are handled too.
    ///
    /// - Parameter written: receives an item that was written after the caller had stopped waiting.
    func asking(
        _ prompt: String, on bus: BusConnection, written: @escaping (_ path: String) -> Void
    ) -> GIOCall<Answer> {
        GIOCall(waiting: { [self] answer in
            number += 1
            let number = number
            // Before the call: the answer may come at once.
            let completion = bus.subscribe(
                to: "Completed", of: Self.interface, from: SecretServiceProxy.busName, path: prompt
            ) { [weak self] in self?.completed(number, $0) }
            shown = Shown(
                number: number, path: prompt, completion: completion, answer: answer, written: written)
            let method = Self.method("Prompt", of: prompt)
            let window = BusVariant(tuple: [BusVariant(string: "")])
            // No limit: it ends when the user has answered, or the service has gone.
            thread.begin(bus.calling(method, arguments: window, reply: "()") { _ in true }, limit: nil) {
                [weak self] result in
                if case .failure(let failure) = result { self?.fail(number, failure) }
            }
        })
    }

    private func completed(_ number: Int, _ arguments: BusVariant) {
        guard let shown, shown.number == number else { return }
        let isDismissed = arguments.members.first?.bool ?? true
        guard !isDismissed || !shown.isWithdrawn else { return fail(number, .cancelled) }
        self.shown = nil
        let path = arguments.members.last?.unboxed.string
        wasDismissed = isDismissed
        let answer =
            wasDismissed ? Answer.dismissed : .agreed(path: path.flatMap { $0.isEmpty || $0 == "/" ? nil : $0 })
        let hasReplied = shown.answer(.success(answer))
        if !hasReplied, case .agreed(let path?) = answer { shown.written(path) }
        ended?(answer)
    }

    private func fail(_ number: Int, _ failure: GLibFailure) {
        guard let shown, shown.number == number else { return }
        self.shown = nil
        let hasReplied = shown.answer(.failure(failure))
        // A caller that gets the failure tries again by itself.
        if shown.isWithdrawn || !hasReplied { ended?(nil) }
    }

    private static func method(_ member: String, of prompt: String) -> BusMethod {
        BusMethod(
            destination: SecretServiceProxy.busName, path: prompt, interface: interface, member: member)
    }
}
