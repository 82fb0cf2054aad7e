/// How many lines of the screen each list gets, with its heading. A heading alone is left out.
///
/// The chosen list gets all the lines that it needs. If it is not the sessions, their heading and the selected session
/// stay above it, if there is room. The sessions also get the lines that no list needs.
struct LiveShares {
    /// The most lines for a list that is not chosen.
    private static let most: [LiveList: Int] = [.renewals: 6, .callers: 4]
    /// Each list keeps this share of the lines while there are more sessions than lines.
    private static let parts: [LiveList: Int] = [.renewals: 4, .callers: 5, .events: 3]
    /// The heading, and one line.
    private static let least = 2

    private var shares: [LiveList: Int] = [:]

    /// - Parameters:
    ///   - room: the lines between title and footer.
    ///   - detail: how many of them show the details of the selected session.
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
        let sessions = shares[.sessions] ?? 0
        shares[.sessions] = min(wanted(.sessions), sessions + max(0, rest))
    }

    subscript(list: LiveList) -> Int { shares[list] ?? 0 }
}
