import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Clocks that differ")
struct ClockSkewTests {
    /// 2027-01-15T08:00:00Z, as the manual clock begins.
    private static let date = "Fri, 15 Jan 2027 08:00:00 GMT"

    @Test(
        "the smallest difference that explains a date is reported: none within the time of the exchange",
        arguments: [
            // The clocks agree, however long the answer took.
            (0, 0, 0), (0, 30, 0), (-20, 30, 0), (-30, 30, 0),
            // Ours is ahead by more than that, or behind.
            (40, 30, -39), (3600, 1, -3599), (-31, 30, 1), (-7200, 1, 7199),
        ])
    func differences(sentAfterDate: Int, took: Int, reported: Int) throws {
        let sent = ManualClock.moment(.seconds(sentAfterDate))
        let received = ManualClock.moment(.seconds(sentAfterDate + took))
        let skew = try #require(ClockSkew(Self.reply(["Date": Self.date]), sent: sent, received: received))
        #expect(skew.value(at: received) == .seconds(reported))
    }

    @Test("a copy from a cache is as old as it says, and a response without a date says nothing")
    func aged() throws {
        let now = ManualClock.moment(.seconds(500))
        let skew = try #require(ClockSkew(Self.reply(["Date": Self.date, "Age": "500"]), sent: now, received: now))
        #expect(skew.value(at: now) == .zero)
        for header in [[:], ["Date": "yesterday"]] as [[String: String]] {
            #expect(ClockSkew(Self.reply(header), sent: now, received: now) == nil)
        }
    }

    @Test("an age that no copy can have counts as the longest one", arguments: ["9223372036854775807", "2147483649"])
    func hugeAge(age: String) throws {
        let now = ManualClock.moment(.seconds(500))
        let skew = try #require(ClockSkew(Self.reply(["Date": Self.date, "Age": age]), sent: now, received: now))
        #expect(skew.reportable(at: now) == .seconds((1 << 31) - 500))
    }

    @Test("when our clock is set right the difference is gone, without another answer")
    func clockSet() throws {
        let wrong = ManualClock.moment(.seconds(7200))
        let skew = try #require(ClockSkew(Self.reply(["Date": Self.date]), sent: wrong, received: wrong))
        #expect(skew.value(at: wrong) == .seconds(-7199))
        let right = Moment(boot: wrong.boot, wall: wrong.wall + .seconds(-7200))
        #expect(skew.value(at: right) == .zero)
    }

    @Test("an end that is a date uses the provider's clock, a lifetime does not")
    func ends() throws {
        var reply = Sample.reply(200, #"{"token":"t","expiresAt":1800007210}"#)
        reply.skew = .seconds(7200)
        var grant = try Sample.profile().readSignIn(reply, method: Sample.password(), sentAt: Sample.sentAt)
        #expect(grant.expiresAt == WallTime(unixSeconds: 1_800_000_010))
        reply = Sample.reply(200, #"{"token":"t","expiresIn":10}"#)
        reply.skew = .seconds(7200)
        grant = try Sample.profile().readSignIn(reply, method: Sample.password(), sentAt: Sample.sentAt)
        #expect(grant.expiresAt == Sample.sentAt + .seconds(10))
    }

    @Test("the status of its sessions and the network's tell a provider whose clock differs by a minute or more")
    func reported() async throws {
        for (date, skew) in [("Fri, 15 Jan 2027 06:00:00 GMT", -7199), ("Fri, 15 Jan 2027 08:00:50 GMT", nil)] {
            let transport = ScriptedTransport { _ throws(TransportError) in
                HTTPResponse(
                    status: 200, headers: [("Content-Type", "application/json"), ("Date", date)],
                    body: Array(#"{"token":"t","expires_in":1000}"#.utf8))
            }
            let example = try ExampleProvider(transport: transport)
            try await example.running { sessions, signIns in
                _ = try await signIns.start(SessionRegistryTests.start)
                #expect(try sessions.status(nil).clockSkew == skew.map { .seconds($0) })
                #expect(sessions.context.board.network.clockSkews == (skew.map { ["example": .seconds($0)] } ?? [:]))
            }
        }
    }

    private static func reply(_ headers: [String: String]) -> HTTPResponse {
        HTTPResponse(status: 200, headers: headers.map { ($0.key, $0.value) }, body: [])
    }
}
