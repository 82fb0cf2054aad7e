import AuthConcurrency
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Messages to the service manager", .timeLimit(.minutes(1)))
struct NotificationTests {
    // MARK: Their order

    @Test("wait in order while the manager does not receive; one that a newer one replaces is not sent")
    func order() {
        let manager = SlowManager()
        let notifier = ServiceNotifier(to: manager)
        notifier.ready(status: "a")
        notifier.status("b")
        for _ in 1...3 { notifier.alive() }
        for status in ["c", "d"] {
            notifier.reloading()
            notifier.ready(status: status)
            notifier.status(status + " later")
        }
        notifier.stopping()
        #expect(manager.messages.isEmpty)
        manager.receive(100)
        #expect(
            manager.messages.map { $0.split(separator: "\n")[0] } == [
                "READY=1", "WATCHDOG=1", "RELOADING=1", "READY=1", "STOPPING=1",
            ])
        #expect(manager.messages[0].hasSuffix("STATUS=a"))
        #expect(manager.messages[3].hasSuffix("STATUS=d"))
        notifier.alive()
        #expect(manager.messages.last == "WATCHDOG=1")
    }

    @Test("are sent while there is room; the rest follows in order")
    func room() {
        let manager = SlowManager()
        let notifier = ServiceNotifier(to: manager)
        manager.receive(1)
        notifier.ready(status: "a")
        notifier.alive()
        notifier.status("b")
        #expect(manager.messages == ["READY=1\nSTATUS=a"])
        manager.receive(1)
        #expect(manager.messages.last == "WATCHDOG=1")
        notifier.status("c")
        manager.receive(1)
        #expect(manager.messages == ["READY=1\nSTATUS=a", "WATCHDOG=1", "STATUS=c"])
    }

    @Test("of two simultaneous reloads end with one READY=1")
    func reloads() {
        let manager = SlowManager()
        let notifier = ServiceNotifier(to: manager)
        notifier.reloading()
        notifier.reloading()
        notifier.ready(status: "a")
        notifier.ready(status: "b")
        manager.receive(100)
        #expect(manager.messages.count == 2)
        #expect(manager.messages.last == "READY=1\nSTATUS=b")
    }

    @Test("that could not be sent are sent with the next one")
    func failed() {
        let manager = SlowManager()
        let notifier = ServiceNotifier(to: manager)
        manager.isGone.withLock { $0 = true }
        notifier.status("a")
        manager.isGone.withLock { $0 = false }
        manager.receive(100)
        #expect(manager.messages.isEmpty)
        notifier.alive()
        #expect(manager.messages == ["STATUS=a", "WATCHDOG=1"])
    }

    // MARK: Their socket

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("never block if the manager does not receive", arguments: [false, true])
    func doesNotWait(isAbstract: Bool) async throws {
        let (folder, descriptors) = (try TemporaryFolder(), FakeDescriptorStore())
        defer { withExtendedLifetime(folder) {} }
        let path = isAbstract ? "@authd-test-\(UUID().uuidString)" : folder.path + "/notify"
        let manager = try NotifySocket(at: path, descriptorStore: descriptors)
        let socket = NotificationSocket(path, logger: Self.logger)
        let memory = FakeDescriptorStore.sealedMemory(holding: Data("kept".utf8))
        defer { close(memory) }
        #expect(socket.send("STATUS=before", with: nil) == .sent)
        manager.stopReceiving()
        #expect(socket.send("STATUS=lost", with: nil) == .isFull)
        #expect(socket.send("FDSTORE=1\nFDNAME=lost", with: memory) == .isFull)

        let results = OneShot<[NotificationResult]>()
        socket.whenReceiving {
            results.send([
                socket.send("FDSTORE=1\nFDNAME=kept", with: memory), socket.send("STATUS=after", with: nil),
            ])
        }
        // The wait ends although there is still work.
        await socket.finish(within: .zero)
        manager.receiveAgain()
        #expect(await results.value()?.first == .sent)
        #expect(await manager.message { $0.contains("FDNAME=kept") } != nil)
        #expect(descriptors.entries.map(\.name) == ["kept"])
        #expect(descriptors.contents() == [Data("kept".utf8)])
        await socket.finish(within: .seconds(60))
        #expect(manager.received.contains("STATUS=before\n"))
        #expect(!manager.received.contains("lost"))
        manager.end()
    }

    @Test("of a service are sent in order when the real socket has room again")
    func queue() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let manager = try NotifySocket(at: folder.path + "/notify")
        let notifier = ServiceNotifier(to: NotificationSocket(manager.path, logger: Self.logger))
        manager.stopReceiving()
        notifier.reloading()
        notifier.ready(status: "a")
        notifier.alive()
        notifier.stopping()
        manager.receiveAgain()
        for line in ["RELOADING=1", "READY=1", "WATCHDOG=1", "STOPPING=1"] {
            #expect(await manager.message { !$0.hasPrefix("X_TEST") }?.hasPrefix(line) == true)
        }
        manager.end()
    }

    @Test("fail if the socket does not exist or the address is invalid")
    func noSocket() throws {
        let folder = try TemporaryFolder()
        for place in [folder.path + "/none", "@", "/" + String(repeating: "x", count: 200)] {
            #expect(NotificationSocket(place, logger: Self.logger).send("WATCHDOG=1", with: nil) == .failed)
        }
    }
}

/// Receives as many messages as the test lets it.
private final class SlowManager: NotificationReceiver {
    let isGone = Mutex(false)
    private let room = Mutex(0)
    private let received = Mutex<[String]>([])
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    var messages: [String] { received.withLock { $0 } }

    func send(_ message: String, with descriptor: CInt?) -> NotificationResult {
        if isGone.withLock({ $0 }) { return .failed }
        let hasRoom = room.withLock { room in
            guard room > 0 else { return false }
            room -= 1
            return true
        }
        guard hasRoom else { return .isFull }
        received.withLock { $0.append(message) }
        return .sent
    }

    func whenReceiving(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    func receive(_ count: Int) {
        room.withLock { $0 = count }
        let works = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in works { work() }
    }
}
