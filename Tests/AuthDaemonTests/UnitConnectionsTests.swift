import AuthModel
import AuthWire
import Testing

@testable import AuthDaemon

@Suite("The connections of the programs of a unit")
struct UnitConnectionsTests {
    private static func group(_ process: Int32, _ unit: String?, user: UInt32 = 1000) -> UnitConnections.Group {
        var client = CallerIdentity(listener: .api, processID: process, userID: user)
        client.unit = unit
        return UnitConnections.Group(client)
    }

    @Test("programs of one unit count together, and those without one by process")
    func groups() {
        #expect(Self.group(1, "a.service") == Self.group(2, "a.service"))
        #expect(Self.group(1, "a.service") != Self.group(1, "b.service"))
        #expect(Self.group(1, "a.service") != Self.group(1, "a.service", user: 1001))
        #expect(Self.group(1, nil) == Self.group(1, nil) && Self.group(1, nil) != Self.group(2, nil))
    }

    @Test("a unit at its limit is refused, others are not, and a connection that ends makes room")
    func limit() {
        var connections = UnitConnections(limit: 2)
        func isAdded(_ number: Int, _ unit: String) -> Bool {
            do throws(AgentError) {
                try connections.add(number, of: Self.group(1, unit))
                return true
            } catch {
                return false
            }
        }
        #expect(isAdded(1, "a.service") && isAdded(2, "a.service") && !isAdded(3, "a.service"))
        #expect(isAdded(4, "b.service"))
        // It was refused, or never counted.
        for number in [3, 9] { connections.remove(number) }
        #expect(!isAdded(5, "a.service"))
        connections.remove(1)
        connections.remove(1)
        #expect(isAdded(6, "a.service") && !isAdded(7, "a.service"))
    }
}
