/// How many lines of the screen each list gets, with its heading. A heading alone is left out.
///
/// The list in which keys move gets all the lines that it needs. If it is not the sessions, their heading and the selected
/// session stay above it as far as there is room.
struct LiveShares {
    /// The most lines that a list gets in which keys do not move.
    private static let most: [LiveList: Int] = [.renewals: 6, .callers: 4]
    /// The part of the room that each list keeps while there are more sessions than lines.
    private static let parts: [LiveList: Int] = [.renewals: 4, .callers: 5, .events: 3]
    /// The heading, and one line.
    private static let least = 2

    private var shares: [LiveList: Int] = [:]

    /// - Parameters:
    ///   - room: the lines between title and footer.
    ///   - detail: those of them that the selected session's detail takes.
    init(_ model: LiveModel, room: Int, detail: Int) {
        func wanted(_ list: LiveList) -> Int {
            let most = list == model.list ? nil : Self.most[list]
            let count = min(model.count(of: list), most ?? .max)
            return list == .sessions || count > 0 ? 1 + count : 0
        }
        let kept = Self.parts.reduce(into: [LiveList: Int]()) { $0[$1.key] = min(wanted($1.key), room / $1.value) }
        var rest = room - detail
        if model.list == .sessions {
            let others = kept.values.reduce(0, +)
            shares[.sessions] = min(wanted(.sessions), max(min(Self.least, room), rest - others))
        } else {
            let sessions = min(wanted(.sessions), max(0, min(Self.least, rest - Self.least)))
            shares[.sessions] = sessions
            shares[model.list] = min(wanted(model.list), rest - sessions)
        }
        rest -= shares.values.reduce(0, +)
        let others = LiveList.allCases.filter { shares[$0] == nil }
        for (index, list) in others.enumerated() {
            let later = others[(index + 1)...].reduce(0) { $0 + (kept[$1] ?? 0) }
            let share = min(wanted(list), rest - later)
            guard share >= Self.least else { continue }
            shares[list] = share
            rest -= share
        }
    }

    subscript(list: LiveList) -> Int { shares[list] ?? 0 }
}
