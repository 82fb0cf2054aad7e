import AuthModel
import AuthWire

/// Connections by unit, for users with many connections.
///
/// While a user has few, they are not counted, so nothing has to be read about a client.
struct UnitConnections {
    enum Group: Hashable {
        case unit(String, user: UInt32)
        /// In no unit.
        case process(Int32)

        init(_ client: CallerIdentity) {
            self = client.unit.map { .unit($0, user: client.userID) } ?? .process(client.processID)
        }
    }

    private let limit: Int
    /// How many are open.
    private var numbers: [Group: Int] = [:]
    /// By the number of the connection.
    private var groups: [Int: Group] = [:]

    init(limit: Int) { self.limit = limit }

    /// - Throws: `busy` if its unit has too many.
    mutating func add(_ connection: Int, of group: Group) throws(AgentError) {
        let open = numbers[group, default: 0]
        guard open < limit else { throw .tooManyConnections(of: group) }
        numbers[group] = open + 1
        groups[connection] = group
    }

    /// Does nothing if it was not counted.
    mutating func remove(_ connection: Int) {
        guard let group = groups.removeValue(forKey: connection) else { return }
        let open = numbers[group, default: 1]
        numbers[group] = open > 1 ? open - 1 : nil
    }
}
