package import AuthModel
package import GLibRuntime
import Synchronization

/// Notices on the person's desktop (Desktop Notifications Specification 1.2, org.freedesktop.Notifications).
///
/// The bus is connected to when there is something to show for the first time. Invariant: of each subject one call is
/// under way at most, and what is wanted when it ends is what counts.
// @unchecked Sendable: what changes is used on `thread` only; the stream is thread-safe by itself.
package final class DesktopNotifier: Notifier, @unchecked Sendable {
    private struct Known {
        /// `nil`: nothing is to be shown.
        var wanted: Notice?
        /// As last sent, whether or not the server took it.
        var sent: Notice?
        /// The server's number of what is shown.
        var number: UInt32?
        var isBusy = false
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// It is a service on this machine; one that has to be started first takes a second or two.
    private static let patience = Duration.seconds(10)
    /// The key of the action that a click on the whole notice is.
    private static let action = "default"
    /// Of NotificationClosed: put away by the person.
    private static let dismissedByPerson: UInt32 = 2

    private let thread: GLibThread
    private let address: String?
    private let answers: AsyncStream<NoticeResponse>
    private let heard: AsyncStream<NoticeResponse>.Continuation
    private var bus: BusConnection?
    private var isConnecting = false
    private var subscriptions: [GLibSubscription] = []
    private var known: [Notice.Subject: Known] = [:]

    /// - Parameter address: of the person's message bus; `nil` where there is none.
    package init(on thread: GLibThread, address: String?) {
        self.thread = thread
        self.address = address
        (answers, heard) = AsyncStream.makeStream()
    }

    package func responses() -> AsyncStream<NoticeResponse> { answers }

    package func show(_ notice: Notice) {
        thread.perform { [self] in
            known[notice.subject, default: Known()].wanted = notice
            bring(notice.subject)
        }
    }

    package func withdraw(_ subject: Notice.Subject) {
        thread.perform { [self] in
            known[subject]?.wanted = nil
            bring(subject)
        }
    }

    // MARK: On the GLib thread

    private func connect() {
        guard let address, !isConnecting else { return }
        isConnecting = true
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.patience) { [weak self] result in
            guard let self else { return }
            isConnecting = false
            // Without a bus there is no desktop either; the next notice tries again.
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
                    self?.closed(arguments.members.first?.uint32, why: arguments.members.last?.uint32)
                },
            ]
            for subject in known.keys { bring(subject) }
        }
    }

    private func lost() {
        (bus, subscriptions) = (nil, [])
        for subject in known.keys { known[subject]?.number = nil }
    }

    private func chosen(_ number: UInt32?) {
        guard let number, let subject = known.first(where: { $0.value.number == number })?.key else { return }
        heard.yield(.chosen(subject))
    }

    private func closed(_ number: UInt32?, why: UInt32?) {
        guard let number, let subject = known.first(where: { $0.value.number == number })?.key else { return }
        known[subject]?.number = nil
        guard why == Self.dismissedByPerson else { return }
        // Shown again only when it is wanted again.
        known[subject] = nil
        heard.yield(.dismissed(subject))
    }

    /// Brings what is shown of a subject in line with what is wanted.
    private func bring(_ subject: Notice.Subject) {
        guard let known = known[subject], !known.isBusy else { return }
        guard let notice = known.wanted else {
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
        thread.begin(call, limit: Self.patience) { [weak self] result in
            guard let self else { return }
            self.known[subject]?.isBusy = false
            if case .success(let number) = result { self.known[subject]?.number = number }
            bring(subject)
        }
    }

    private func close(_ number: UInt32) {
        guard let bus else { return }
        let call = bus.calling(
            method("CloseNotification"), arguments: BusVariant(tuple: [BusVariant(uint32: number)]), reply: "()"
        ) { _ in true }
        thread.begin(call, limit: Self.patience) { _ in }
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(destination: Self.name, path: Self.path, interface: Self.name, member: member)
    }

    /// No text of a provider's is in it, so none has to be kept from being read as markup.
    private static func arguments(_ notice: Notice, replacing number: UInt32) -> BusVariant {
        BusVariant(tuple: [
            BusVariant(string: "authd"), BusVariant(uint32: number), BusVariant(string: "dialog-password"),
            BusVariant(string: notice.title), BusVariant(string: notice.message),
            BusVariant(strings: [action, notice.action]),
            BusVariant(table: [("category", BusVariant(string: "network"))]),
            // As long as the server thinks right.
            BusVariant(int32: -1),
        ])
    }
}
