import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthWire
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The state board's events", .timeLimit(.minutes(1)))
struct StateBoardTests {
    private final class EventCollector: Sendable {
        let events = Mutex<[AgentEvent]>([])
        let whileRecording = Mutex<(@Sendable () -> Void)?>(nil)

        func record(_ event: AgentEvent) {
            let meanwhile = whileRecording.withLock { meanwhile in
                defer { meanwhile = nil }
                return meanwhile
            }
            meanwhile?()
            events.withLock { $0.append(event) }
        }

        var states: [NetworkState?] { events.withLock { $0.map(\.network?.state) } }
    }

    private let collector = EventCollector()
    private let board: StateBoard

    init() {
        board = StateBoard(storeKind: .memory, clock: ManualClock(), publish: { [collector] in collector.record($0) })
    }

    @Test("the status of some sessions is the same as among all of them, whether they are loaded or not")
    func someStatuses() throws {
        for (number, state) in [SessionState.keyringLocked, .signingIn, .keyringLocked].enumerated() {
            board.put(
                placeholder: SessionStatus(session: try SessionName("s\(number)"), provider: "p", state: state))
        }
        let some = board.statuses { $0.state == .keyringLocked }
        #expect(some.map(\.session.text) == ["s0", "s2"])
        #expect(some == board.statuses().filter { $0.state == .keyringLocked })
    }

    @Test("a change that is made while an earlier one is published is published after it, each with its own state")
    func nested() {
        collector.whileRecording.withLock { meanwhile in
            meanwhile = { [board] in board.put(network: .online, providers: [:]) }
        }
        board.put(network: .limited, providers: [:])
        #expect(collector.states == [.limited, .online])
    }

    @Test("a change by another thread does not overtake one that is being published, and does not wait for it")
    func overtaking() async {
        let (isHeld, mayGoOn) = (OneShot<Void>(), DispatchSemaphore(value: 0))
        collector.whileRecording.withLock { meanwhile in
            meanwhile = {
                isHeld.send(())
                mayGoOn.wait()
            }
        }
        let first = OneShot<Void>()
        Thread.detachNewThread { [board] in
            board.put(network: .offline, providers: [:])
            first.send(())
        }
        _ = await isHeld.value()
        board.put(network: .portal, providers: [:])
        #expect(collector.states.isEmpty)
        #expect(board.network.state == .portal)
        mayGoOn.signal()
        _ = await first.value()
        #expect(collector.states == [.offline, .portal])
    }

    @Test("the last event of many threads shows the last state")
    func threads() async {
        for round in 1...200 {
            await withTaskGroup(of: Void.self) { group in
                for (number, state) in [NetworkState.online, .limited, .portal, .offline].enumerated() {
                    group.addTask { [board] in board.put(network: state, providers: ["p": "\(round) \(number)"]) }
                }
            }
            // The one that tells may still be at it only until its own change has returned.
            #expect(collector.events.withLock { $0.last }?.network == board.network)
        }
    }

    @Test("watchers learn of changes that are made together, and each of these has its event")
    func together() async {
        var changes = board.changes().makeAsyncIterator()
        await changes.next()
        await board.notifyingOnce {
            board.put(network: .limited, providers: [:])
            await board.notifyingOnce { board.put(network: .portal, providers: [:]) }
            board.put(network: .offline, providers: [:])
        }
        await changes.next()
        #expect(collector.states == [.limited, .portal, .offline])
        board.put(network: .online, providers: [:])
        await changes.next()
        #expect(board.network.state == .online)
    }
}
