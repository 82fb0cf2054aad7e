package import AuthModel
package import GLibRuntime

/// Asks about programs with a notification that has buttons (Desktop Notifications Specification 1.2). There is no
/// button for the whole notification, so that a click somewhere allows nothing.
///
/// It connects to the bus when something is asked for the first time.
///
/// Invariants: each question has one reply. An answer counts only from the owner of the name that shows the question.
/// @unchecked Sendable: mutable state is used on `thread` only.
package final class DesktopConsent: ConsentPrompt, @unchecked Sendable {
    private struct Shown {
        let question: ConsentQuestion
        let reply: (ConsentReply) -> Void
        /// The server's unique name, when it is known.
        var server: String?
        /// The server's number of the notification.
        var number: UInt32?
        /// A button was clicked: that is the answer, if it came from the owner of the name.
        var isAnswered = false
        var subscriptions: [GLibSubscription] = []
    }

    private enum Button: String, CaseIterable {
        case once, hour, refuse

        var label: String {
            switch self {
            case .once: "Allow once"
            case .hour: "Allow for an hour"
            case .refuse: "Refuse"
            }
        }

        var answer: ConsentAnswer {
            switch self {
            case .once: .allowed(remembered: nil)
            case .hour: .allowed(remembered: .seconds(3600))
            case .refuse: .refused
            }
        }
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// A service on this machine; if it has to be started first, that takes a second or two.
    private static let timeout = Duration.seconds(10)
    /// A reason of NotificationClosed.
    private static let dismissedByUser: UInt32 = 2

    private let thread: GLibThread
    private let address: String?
    private var bus: BusConnection?
    private var closing: GLibSubscription?
    private var shown: [UInt64: Shown] = [:]

    /// - Parameter address: of the user's message bus; `nil` if there is none.
    package init(on thread: GLibThread, address: String?) {
        self.thread = thread
        self.address = address
    }

    package func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                thread.perform { [self] in
                    shown[number] = Shown(question: question, reply: { continuation.resume(returning: $0) })
                    connect(number)
                }
            }
        } onCancel: {
            withdraw(number)
        }
    }

    package func withdraw(_ number: UInt64) {
        thread.perform { [self] in end(number, .notShown) }
    }

    // MARK: On the GLib thread

    private func end(_ number: UInt64, _ reply: ConsentReply) {
        guard let shown = shown.removeValue(forKey: number) else { return }
        if let server = shown.server, let id = shown.number { close(id, at: server) }
        shown.reply(reply)
    }

    private func connect(_ number: UInt64) {
        if bus != nil { return find(number) }
        guard let address else { return end(number, .notShown) }
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [self] result in
            guard case .success(let new) = result else { return end(number, .notShown) }
            bus = new
            closing = new.whenClosed { [weak self] in self?.lost() }
            find(number)
        }
    }

    private func lost() {
        (bus, closing) = (nil, nil)
        for number in shown.keys { end(number, .notShown) }
    }

    /// The server, which is started if there is none.
    private func find(_ number: UInt64, mayStart: Bool = true) {
        guard let bus else { return end(number, .notShown) }
        thread.begin(bus.readingOwner(of: Self.name), limit: Self.timeout) { [self] result in
            if case .success(let owner) = result { return ask(number, owner) }
            guard mayStart, let bus = self.bus else { return end(number, .notShown) }
            thread.begin(bus.startingService(Self.name), limit: Self.timeout) { [self] _ in
                find(number, mayStart: false)
            }
        }
    }

    private func ask(_ number: UInt64, _ server: String) {
        guard let bus, shown[number] != nil else { return }
        let call = bus.calling(method("GetCapabilities", of: server), arguments: nil, reply: "(as)") {
            $0.members.first?.members.compactMap(\.string)
        }
        thread.begin(call, limit: Self.timeout) { [self] result in
            guard case .success(let abilities) = result, abilities.contains("actions") else {
                return end(number, .notShown)
            }
            notify(number, server, hasMarkup: abilities.contains("body-markup"))
        }
    }

    private func notify(_ number: UInt64, _ server: String, hasMarkup: Bool) {
        guard let bus, let question = shown[number]?.question else { return }
        func signal(_ member: String, _ received: @escaping (DesktopConsent, BusVariant) -> Void) -> GLibSubscription {
            bus.subscribe(to: member, of: Self.name, from: server, path: Self.path) { [weak self] arguments in
                guard let self, let id = shown[number]?.number, id == arguments.members.first?.uint32 else { return }
                received(self, arguments)
            }
        }
        shown[number]?.server = server
        shown[number]?.subscriptions = [
            signal("ActionInvoked") { desktop, arguments in
                let key = arguments.members.last?.string
                if let button = key.flatMap(Button.init(rawValue:)) { desktop.chosen(button, number) }
            },
            signal("NotificationClosed") { desktop, arguments in
                let isRefused = arguments.members.last?.uint32 == Self.dismissedByUser
                desktop.shown[number]?.number = nil
                // GNOME and others close it, with the same reason, when a button is clicked.
                guard desktop.shown[number]?.isAnswered != true else { return }
                desktop.end(number, isRefused ? .answered(.refused) : .notShown)
            },
            // Another server has not shown it.
            bus.watch(name: Self.name) { [weak self] owner in
                if owner != server { self?.end(number, .notShown) }
            },
        ]
        let call = bus.calling(
            method("Notify", of: server), arguments: Self.arguments(question, hasMarkup: hasMarkup), reply: "(u)"
        ) { $0.members.first?.uint32 }
        thread.begin(call, limit: Self.timeout) { [self] result in
            guard case .success(let id) = result else { return end(number, .notShown) }
            // It was withdrawn meanwhile.
            guard shown[number] != nil else { return close(id, at: server) }
            shown[number]?.number = id
        }
    }

    private func chosen(_ button: Button, _ number: UInt64) {
        guard let bus, let server = shown[number]?.server, shown[number]?.isAnswered == false else { return }
        shown[number]?.isAnswered = true
        // The name may have got another owner just now.
        thread.begin(bus.readingOwner(of: Self.name), limit: Self.timeout) { [self] result in
            guard case .success(server) = result else { return end(number, .notShown) }
            end(number, .answered(button.answer))
        }
    }

    private func close(_ id: UInt32, at server: String) {
        guard let bus else { return }
        let call = bus.calling(
            method("CloseNotification", of: server), arguments: BusVariant(tuple: [BusVariant(uint32: id)]),
            reply: "()"
        ) { _ in true }
        thread.begin(call, limit: Self.timeout) { _ in }
    }

    private func method(_ member: String, of server: String) -> BusMethod {
        BusMethod(destination: server, path: Self.path, interface: Self.name, member: member)
    }

    private static func arguments(_ question: ConsentQuestion, hasMarkup: Bool) -> BusVariant {
        let text = question.lines.joined(separator: "\n")
        let body = hasMarkup ? escaped(text) : text
        // The answer about a sign-in counts once.
        let buttons = Button.allCases.filter { $0 != .hour || question.signIn == nil }
        return BusVariant(tuple: [
            BusVariant(string: "authd"), BusVariant(uint32: 0), BusVariant(string: "dialog-password"),
            BusVariant(string: question.title), BusVariant(string: body),
            BusVariant(strings: buttons.flatMap { [$0.rawValue, $0.label] }),
            BusVariant(table: [("desktop-entry", BusVariant(string: "org.authd.agent"))]),
            // It stays until it is answered or withdrawn.
            BusVariant(int32: 0),
        ])
    }

    private static func escaped(_ text: String) -> String {
        // Scalars: a bracket with a combining mark is another character, but a desktop still sees the bracket.
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
