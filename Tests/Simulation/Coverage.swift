import AuthMachines
import AuthWire

/// Where a machine stands, as far as its decisions differ.
package enum MachineState: Int, Sendable, CaseIterable {
    case signedOut, signInRequired
    case liveIdle, liveProving, liveAsking, liveRereading, liveSaving
    case endedIdle, endedProving, endedAsking, endedRereading, endedSaving

    init(_ seat: SimulatedSession) {
        if seat.machine.signedOut {
            self = .signedOut
        } else if seat.snapshot?.status.state == .signInRequired {
            self = .signInRequired
        } else {
            let isLive = seat.snapshot?.status.state == .active
            switch seat.machine.currentRequest?.stage {
            case nil: self = isLive ? .liveIdle : .endedIdle
            case .probingStore: self = isLive ? .liveProving : .endedProving
            case .requesting: self = isLive ? .liveAsking : .endedAsking
            case .rereading: self = isLive ? .liveRereading : .endedRereading
            case .saving: self = isLive ? .liveSaving : .endedSaving
            }
        }
    }
}

/// What can happen to a machine, results apart.
package enum EventKind: Int, Sendable, CaseIterable {
    case tokenRequested, targetedTokenRequested, renewalRequested, rejected, signOutRequested, writeRequested,
        callerGone
    case replaced, userReceived, passwordSet, defaultChosen, renewable, notRenewable
    case renewed, finalNo, refused, failed
    case reread, rereadFailed
    case saved, saveRefused, saveFailed, deleted, deleteFailed, compared, comparisonFailed
    case wake, checkDue, storeReady, storeChanged, networkBack, networkGone, clockSet
}

/// Which transitions of the machine were seen, and how often.
package struct Coverage: Sendable {
    private static let states = MachineState.allCases.count
    private static let events = EventKind.allCases.count
    private var seen = [UInt32](repeating: 0, count: states * events * states)
    /// Calls at the provider.
    package var calls = 0
    /// The most calls of one session in an hour beyond what users requested.
    package var maxCalls = 0

    mutating func count(_ before: MachineState, _ event: EventKind, _ after: MachineState) {
        let index = (before.rawValue * Self.events + event.rawValue) * Self.states + after.rawValue
        seen[index] &+= 1
    }

    package mutating func add(_ other: Coverage) {
        for index in seen.indices { seen[index] &+= other.seen[index] }
        calls += other.calls
        maxCalls = max(maxCalls, other.maxCalls)
    }

    /// Distinct (state, event, state).
    package var transitions: Int { seen.count { $0 > 0 } }

    /// Distinct (state, event).
    package var pairs: Int { MachineState.allCases.reduce(0) { sum, state in sum + missing(at: state).seen } }

    /// The events that never came in a state, by that state.
    package var neverSeen: [(state: MachineState, events: [EventKind])] {
        MachineState.allCases.map { ($0, missing(at: $0).events) }.filter { !$0.1.isEmpty }
    }

    private func missing(at state: MachineState) -> (seen: Int, events: [EventKind]) {
        let missing = EventKind.allCases.filter { event in
            let start = (state.rawValue * Self.events + event.rawValue) * Self.states
            return seen[start..<start + Self.states].allSatisfy { $0 == 0 }
        }
        return (Self.events - missing.count, missing)
    }
}
