import AuthMachines
import AuthModel
import Testing

@Suite("How many sign-ins may begin")
struct SignInAllowanceTests {
    private static let start = BootInstant(sinceBoot: .seconds(1000))

    /// How many of these tries are allowed.
    private static func allowed(
        _ allowances: inout SignInAllowances, _ tries: Int, unit: String?, user: UInt32 = 1000, perHour: Int = 60,
        at now: BootInstant = start
    ) -> Int {
        (0..<tries).reduce(0) { count, _ in
            count + (allowances.spend(unit, of: user, perHour: perHour, at: now) == nil ? 1 : 0)
        }
    }

    @Test("a unit may begin all of an hour at once, and the next one when the first is an hour old")
    func unit() {
        var allowances = SignInAllowances()
        #expect(Self.allowed(&allowances, 1, unit: "a.service") == 1)
        #expect(Self.allowed(&allowances, 100, unit: "a.service", at: Self.start + .seconds(600)) == 59)
        let wait = allowances.spend("a.service", of: 1000, perHour: 60, at: Self.start + .seconds(600))
        #expect(wait == .seconds(3000))
        #expect(Self.allowed(&allowances, 100, unit: "a.service", at: Self.start + .seconds(3599)) == 0)
        #expect(Self.allowed(&allowances, 100, unit: "a.service", at: Self.start + .seconds(3600)) == 1)
        #expect(Self.allowed(&allowances, 100, unit: "a.service", at: Self.start + .seconds(4200)) == 59)
        #expect(Self.allowed(&allowances, 100, unit: "a.service", at: Self.start + .seconds(7800)) == 60)
    }

    @Test("in no hour are there more than are allowed, however they are spread", arguments: [1, 7, 59, 61, 600])
    func anyHour(pause: Int) {
        var allowances = SignInAllowances()
        var begun: [BootInstant] = []
        for second in stride(from: 0, to: 3 * 3600, by: pause) {
            let now = Self.start + .seconds(second)
            begun += Array(repeating: now, count: Self.allowed(&allowances, 7, unit: "a.service", at: now))
        }
        #expect(begun.count >= 120)
        for (index, first) in begun.enumerated() where index + 60 < begun.count {
            #expect(begun[index + 60] - first >= SignInAllowances.window)
        }
    }

    @Test("other units and users have separate allowances, but a user's units together have a limit")
    func groups() {
        var allowances = SignInAllowances()
        for name in ["a.service", "b.service"] { #expect(Self.allowed(&allowances, 100, unit: name) == 60) }
        #expect(Self.allowed(&allowances, 100, unit: "a.service", user: 1001) == 60)
        var counts: [Int] = []
        for number in 1...100 { counts.append(Self.allowed(&allowances, 10, unit: "run-\(number).scope")) }
        #expect(counts.reduce(0, +) == 120)
        #expect(allowances.count <= 20)
        // A client without a unit uses its user's allowance.
        #expect(Self.allowed(&allowances, 1, unit: nil) == 0)
        #expect(Self.allowed(&allowances, 1000, unit: nil, user: 1002) == 240)
    }

    @Test("refused requests are not counted, and returned ones are removed")
    func refused() {
        var allowances = SignInAllowances()
        #expect(Self.allowed(&allowances, 1000, unit: "a.service", perHour: 1) == 1)
        // One of the user's four is used.
        #expect(Self.allowed(&allowances, 1000, unit: nil, perHour: 1) == 3)
        #expect(Self.allowed(&allowances, 1, unit: "b.service", user: 7, at: Self.start + .seconds(7200)) == 1)
        #expect(allowances.count == 2)
    }
}
