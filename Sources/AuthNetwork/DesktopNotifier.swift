package import AuthModel
package import GLibRuntime
import Synchronization

/// Shows notices on the user's desktop (Desktop Notifications Specification 1.2, org.freedesktop.Notifications).
///
/// It connects to the bus when there is a notice for the first time.
///
/// Invariants: at most one call for each subject is in progress, and the notice that is current when it ends is shown next.
/// A number is used only with the server that issued it: the next owner of the name may use it for another notification.
/// @unchecked Sendable: mutable state is used on `thread` only; the stream is thread-safe itself.
package final class DesktopNotifier: Notifier, @unchecked Sendable {
    private struct Known {
        /// `nil`: show nothing.
        var requested: Notice?
        /// The last one sent, even if the server refused it.
        var sent: Notice?
        /// The server's ID of the shown notice.
        var number: UInt32?
        /// The activation token for the next choice.
        var activation: String?
        /// When the user has chosen the action of the shown notice.
        var chosenAt: SuspendingClock.Instant?
        var isBusy = false
    }

    /// The connection that owns the name.
    private struct Server {
        let name: String
        var subscriptions: [GLibSubscription] = []
        /// `nil`: it has not replied yet.
        var hasActions: Bool?
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// A service on this machine; if it has to be started first, that takes a second or two.
    private static let timeout = Duration.seconds(10)
    /// A reason of NotificationClosed.
    private static let dismissedByUser: UInt32 = 2
    /// How long after a click a server closes the notice because of it.
    private static let closingTime = Duration.seconds(5)
    /// The name of the desktop entry, for the application's name and icon.
    private static let entry = "org.authd.agent"
    /// Tokens of compositors have some 40 characters.
    private static let longestActivation = 256

    private let thread: GLibThread
    private let address: String?
    private let answers: AsyncStream<NoticeResponse>
    private let receiver: AsyncStream<NoticeResponse>.Continuation
    private var bus: BusConnection?
    private var isConnecting = false
    private var isStarting = false
    private var watches: [GLibSubscription] = []
    private var server: Server?
    private var known: [Notice.Subject: Known] = [:]

    /// - Parameter address: of the user's message bus; `nil` if there is none.
    package init(on thread: GLibThread, address: String?) {
        self.thread = thread
        self.address = address
        (answers, receiver) = AsyncStream.makeStream()
    }

    package func responses() -> AsyncStream<NoticeResponse> { answers }

    package func show(_ notice: Notice) {
        thread.perform { [self] in
            known[notice.subject, default: Known()].requested = notice
            update(notice.subject)
        }
    }

    package func withdraw(_ subject: Notice.Subject) {
        thread.perform { [self] in
            known[subject]?.requested = nil
            update(subject)
        }
    }

    // MARK: The server, on the GLib thread

    private func connect() {
        guard let address, !isConnecting else { return }
        isConnecting = true
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            isConnecting = false
            // Without a bus there is no desktop; the next notice tries again.
            guard case .success(let bus) = result else { return }
            self.bus = bus
            watches = [
                bus.whenClosed { [weak self] in self?.lost() },
                bus.watch(name: Self.name) { [weak self] in self?.changed(owner: $0) },
            ]
        }
    }

    private func lost() {
        (bus, watches) = (nil, [])
        forgetServer()
    }

    /// The next server shows what this one still showed.
    private func forgetServer() {
        server = nil
        for (subject, notice) in known where notice.number != nil {
            known[subject]?.number = nil
            known[subject]?.sent = nil
            known[subject]?.activation = nil
            known[subject]?.chosenAt = nil
        }
    }

    private func changed(owner: String?) {
        guard let bus, owner == nil || owner != server?.name else { return }
        let isFirst = server == nil
        forgetServer()
        guard let owner else {
            // A server that has ended is not started again before there is something new to show.
            if isFirst { startServer() }
            return
        }
        func signal(_ member: String, _ received: @escaping (DesktopNotifier, BusVariant) -> Void) -> GLibSubscription {
            bus.subscribe(to: member, of: Self.name, from: owner, path: Self.path) { [weak self] arguments in
                if let self, server?.name == owner { received(self, arguments) }
            }
        }
        server = Server(
            name: owner,
            subscriptions: [
                signal("ActivationToken") { $0.receivedActivation($1) },
                signal("ActionInvoked") { $0.chosen($1) },
                signal("NotificationClosed") { $0.closed($1) },
            ])
        let call = bus.calling(method("GetCapabilities", of: owner), arguments: nil, reply: "(as)") {
            $0.members.first?.members.compactMap(\.string)
        }
        thread.begin(call, limit: Self.timeout) { [weak self] result in
            guard let self, server?.name == owner else { return }
            let found: [String] = if case .success(let list) = result { list } else { [] }
            server?.hasActions = found.contains("actions")
            for subject in known.keys { update(subject) }
        }
    }

    private func startServer() {
        guard let bus, !isStarting, known.values.contains(where: { $0.requested != nil }) else { return }
        isStarting = true
        thread.begin(bus.startingService(Self.name), limit: Self.timeout) { [weak self] _ in self?.isStarting = false }
    }

    // MARK: Its signals

    private func subject(of number: UInt32?) -> Notice.Subject? {
        guard let number else { return nil }
        return known.first { $0.value.number == number }?.key
    }

    private func receivedActivation(_ arguments: BusVariant) {
        guard let subject = subject(of: arguments.members.first?.uint32),
            let token = arguments.members.last?.string, token.utf8.count <= Self.longestActivation,
            token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return }
        known[subject]?.activation = token
    }

    private func chosen(_ arguments: BusVariant) {
        guard let subject = subject(of: arguments.members.first?.uint32), let key = arguments.members.last?.string
        else { return }
        let activation = known[subject]?.activation
        known[subject]?.activation = nil
        known[subject]?.chosenAt = .now
        receiver.yield(.chosen(subject, key: key, activation: activation))
    }

    private func closed(_ arguments: BusVariant) {
        guard let subject = subject(of: arguments.members.first?.uint32) else { return }
        known[subject]?.number = nil
        guard arguments.members.last?.uint32 == Self.dismissedByUser else { return }
        // GNOME and others close it, with the same reason, when its action is chosen.
        if let chosenAt = known[subject]?.chosenAt, chosenAt + Self.closingTime > .now {
            known[subject]?.chosenAt = nil
            known[subject]?.sent = nil
            return
        }
        // It is shown again only if it is requested again.
        known[subject] = nil
        receiver.yield(.dismissed(subject))
    }

    // MARK: Its methods

    /// Shows or withdraws a subject's notice as requested.
    private func update(_ subject: Notice.Subject) {
        guard let known = known[subject], !known.isBusy else { return }
        guard let notice = known.requested else {
            self.known[subject] = nil
            if let number = known.number { close(number) }
            return
        }
        guard known.sent != notice else { return }
        guard let bus else { return connect() }
        guard let server else { return startServer() }
        guard let hasActions = server.hasActions else { return }
        let owner = server.name
        self.known[subject]?.isBusy = true
        self.known[subject]?.sent = notice
        let call = bus.calling(
            method("Notify", of: owner),
            arguments: Self.arguments(notice, replacing: known.number ?? 0, hasActions: hasActions), reply: "(u)"
        ) { $0.members.first?.uint32 }
        thread.begin(call, limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            self.known[subject]?.isBusy = false
            if self.server?.name != owner {
                self.known[subject]?.sent = nil
            } else if case .success(let number) = result {
                self.known[subject]?.number = number
                self.known[subject]?.chosenAt = nil
            }
            update(subject)
        }
    }

    private func close(_ number: UInt32) {
        guard let bus, let server else { return }
        let call = bus.calling(
            method("CloseNotification", of: server.name), arguments: BusVariant(tuple: [BusVariant(uint32: number)]),
            reply: "()"
        ) { _ in true }
        thread.begin(call, limit: Self.timeout) { _ in }
    }

    private func method(_ member: String, of server: String) -> BusMethod {
        BusMethod(destination: server, path: Self.path, interface: Self.name, member: member)
    }

    /// It contains no text of a provider, which could be read as markup.
    private static func arguments(_ notice: Notice, replacing number: UInt32, hasActions: Bool) -> BusVariant {
        var actions: [String] = []
        if hasActions, let button = notice.button {
            actions = [Notice.Button.wholeNotice, button.label, button.key, button.label]
        }
        return BusVariant(tuple: [
            BusVariant(string: "authd"), BusVariant(uint32: number), BusVariant(string: "dialog-password"),
            BusVariant(string: notice.title), BusVariant(string: notice.message), BusVariant(strings: actions),
            BusVariant(table: [
                ("category", BusVariant(string: "network")), ("desktop-entry", BusVariant(string: entry)),
            ]),
            // The server's default duration.
            BusVariant(int32: -1),
        ])
    }
}
