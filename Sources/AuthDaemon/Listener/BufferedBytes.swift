/// The bytes that are kept in memory for clients, against a limit for each user and one for all.
package struct BufferedBytes {
    package struct Limits: Sendable {
        package var perUser: Int
        package var inAll: Int

        package init(perUser: Int, inAll: Int) {
            self.perUser = perUser
            self.inAll = inAll
        }
    }

    /// Who has to release bytes, and how many.
    struct Excess: Equatable {
        /// `nil`: all users.
        let user: UInt32?
        let bytes: Int
    }

    /// A connection for which bytes are kept.
    struct Holder {
        let process: Int32
        let bytes: Int
        /// For how long nothing has moved.
        let age: Duration
    }

    private let limits: Limits
    private var inAll = 0
    private var perUser: [UInt32: Int] = [:]

    init(_ limits: Limits) {
        self.limits = limits
    }

    mutating func change(by difference: Int, of user: UInt32) {
        inAll += difference
        let held = perUser[user, default: 0] + difference
        perUser[user] = held == 0 ? nil : held
    }

    /// `nil` within the limits. Else down to seven eighths of one, so that the next byte does not start another search.
    func excess(of user: UInt32) -> Excess? {
        if inAll > limits.inAll { return Excess(user: nil, bytes: inAll - limits.inAll / 8 * 7) }
        let held = perUser[user, default: 0]
        return held > limits.perUser ? Excess(user: user, bytes: held - limits.perUser / 8 * 7) : nil
    }

    /// Which holders release so many bytes: first those of the process that has held most for longest. A client that takes its
    /// answers, or completes its lines, holds them for a moment only, however large they are.
    static func worst(of holders: [Holder], toFree bytes: Int) -> [Int] {
        var processes: [Int32: (score: Double, members: [Int])] = [:]
        for (index, holder) in holders.enumerated() {
            processes[holder.process, default: (0, [])].score += holder.score
            processes[holder.process]?.members.append(index)
        }
        var (worst, freed) = ([Int](), 0)
        for process in processes.values.sorted(by: { $0.score > $1.score }) {
            for index in process.members.sorted(by: { holders[$0].score > holders[$1].score }) {
                guard freed < bytes else { return worst }
                worst.append(index)
                freed += holders[index].bytes
            }
        }
        return worst
    }
}

extension BufferedBytes.Holder {
    /// No longer counts: a client that was stopped for an hour with little is no worse than one that came just now with much.
    private static let oldest = Duration.seconds(10)
    private static let youngest = Duration.milliseconds(1)

    fileprivate var score: Double {
        Double(bytes) * (min(max(age, Self.youngest), Self.oldest) / Self.youngest)
    }
}
