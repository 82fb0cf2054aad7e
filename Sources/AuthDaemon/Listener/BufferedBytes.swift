/// The bytes that are buffered for clients, with a limit for each user and a total one.
package struct BufferedBytes {
    package struct Limits: Sendable {
        package var perUser: Int
        package var inAll: Int

        package init(perUser: Int, inAll: Int) {
            self.perUser = perUser
            self.inAll = inAll
        }
    }

    /// How many bytes must be freed, and by whom.
    struct Excess: Equatable {
        /// `nil`: any user.
        let user: UInt32?
        let bytes: Int
    }

    /// A connection with buffered bytes.
    struct Holder {
        let process: Int32
        let bytes: Int
        /// How long its buffer has not moved.
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

    /// `nil` within the limits. Otherwise the excess above seven eighths of a limit, so that the next byte does not start
    /// another search.
    func excess(of user: UInt32) -> Excess? {
        if inAll > limits.inAll { return Excess(user: nil, bytes: inAll - limits.inAll / 8 * 7) }
        let held = perUser[user, default: 0]
        return held > limits.perUser ? Excess(user: user, bytes: held - limits.perUser / 8 * 7) : nil
    }

    /// Which holders free that many bytes: first those of the process that has held most for longest. A client that receives
    /// its responses, or completes its lines, holds bytes only for a moment, however many.
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
    /// Higher ages do not count: a client that was stopped for an hour with little is no worse than one with much just now.
    private static let oldest = Duration.seconds(10)
    private static let youngest = Duration.milliseconds(1)

    fileprivate var score: Double {
        Double(bytes) * (min(max(age, Self.youngest), Self.oldest) / Self.youngest)
    }
}
