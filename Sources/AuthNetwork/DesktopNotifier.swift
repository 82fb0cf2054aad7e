package import AuthModel
package import GLibRuntime
import Synchronization

/// Shows notices on the user's desktop (Desktop Notifications Specification 1.2, org.freedesktop.Notifications).
///
/// It connects to the bus when there is a notice for the first time. Invariant: at most one call for each subject is in
/// progress, and the notice that is current when it ends is shown next. @unchecked Sendable: mutable state is used on
/// `thread` only; the stream is thread-safe itself.
package final class DesktopNotifier: Notifier, @unchecked Sendable {
    private struct Known {
        /// `nil`: show nothing.
        var requested: Notice?
        /// The last one sent, even if the server refused it.
        var sent: Notice?
        /// The server's ID of the shown notice.
        var number: UInt32?
        var isBusy = false
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// A service on this machine; if it has to be started first, that takes a second or two.
    private static let timeout = Duration.seconds(10)
    /// The action of a click on the whole notice.
    private static let action = "default"
    /// A reason of NotificationClosed.
    private static let dismissedByUser: UInt32 = 2

    private let thread: GLibThread
    private let address: String?
    private let answers: AsyncStream<NoticeResponse>
    private let receiver: AsyncStream<NoticeResponse>.Continuation
    private var bus: BusConnection?
    private var isConnecting = false
    private var subscriptions: [GLibSubscription] = []
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

    // MARK: On the GLib thread

    private func connect() {
        guard let address, !isConnecting else { return }
        isConnecting = true
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            isConnecting = false
            // Without a bus there is no desktop; the next notice tries again.
            guard case .success(let bus) = result else { return }
            self.bus = bus
            subscriptions = [
                bus.whenClosed { [weak self] in self?.lost() },
                bus.subscribe(to: "ActionInvoked", of: Self.name, from: Self.name, path: Self.path) {
                    [weak self] arguments in
                    guard arguments.members.last?.string == Self.action else { return }
                    self?.chosen(arguments.members.first?.uint32)
                },
                bus.subscribe(to: "NotificationClosed", of: Self.name, from: Self.name, path: Self.path) {
                    [weak self] arguments in
                    self?.closed(arguments.members.first?.uint32, reason: arguments.members.last?.uint32)
                },
            ]
            for subject in known.keys { update(subject) }
        }
    }

    private func lost() {
        (bus, subscriptions) = (nil, [])
        for subject in known.keys { known[subject]?.number = nil }
    }

    private func chosen(_ number: UInt32?) {
        guard let number, let subject = known.first(where: { $0.value.number == number })?.key else { return }
        receiver.yield(.chosen(subject))
    }

    private func closed(_ number: UInt32?, reason: UInt32?) {
        guard let number, let subject = known.first(where: { $0.value.number == number })?.key else { return }
        known[subject]?.number = nil
        guard reason == Self.dismissedByUser else { return }
        // It is shown again only if it is requested again.
        known[subject] = nil
        receiver.yield(.dismissed(subject))
    }

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
        self.known[subject]?.isBusy = true
        self.known[subject]?.sent = notice
        let call = bus.calling(
            method("Notify"), arguments: Self.arguments(notice, replacing: known.number ?? 0), reply: "(u)",
            startingService: true
        ) { $0.members.first?.uint32 }
        thread.begin(call, limit: Self.timeout) { [weak self] result in
            guard let self else { return }
            self.known[subject]?.isBusy = false
            if case .success(let number) = result { self.known[subject]?.number = number }
            update(subject)
        }
    }

    private func close(_ number: UInt32) {
        guard let bus else { return }
        let call = bus.calling(
            method("CloseNotification"), arguments: BusVariant(tuple: [BusVariant(uint32: number)]), reply: "()"
        ) { _ in true }
        thread.begin(call, limit: Self.timeout) { _ in }
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(destination: Self.name, path: Self.path, interface: Self.name, member: member)
    }

    /// It contains no text of a provider, which could be read as markup.
    private static func arguments(_ notice: Notice, replacing number: UInt32) -> BusVariant {
        BusVariant(tuple: [
            BusVariant(string: "authd"), BusVariant(uint32: number), BusVariant(string: "dialog-password"),
            BusVariant(string: notice.title), BusVariant(string: notice.message),
            BusVariant(strings: [action, notice.action]),
            BusVariant(table: [("category", BusVariant(string: "network"))]),
            // The server's default duration.
            BusVariant(int32: -1),
        ])
    }
}
