import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent with clocks that are wrong, jump, or continued while the machine slept.
@Suite("Clocks", .serialized, .timeLimit(.minutes(2)))
struct ClockTests {
    @Test("the date jumps by hours in both directions, and no token expires or is renewed because of it")
    func jumps() async throws {
        let clock = try await WrongClock()
        try await NetworkLab.play(
            { lab, _ in
                let token = try await lab.authc("token").out
                for shift in [3 * 3600, -86_400, 400 * 86_400, 0] {
                    try clock.set(seconds: shift)
                    let output = try await lab.authc("token")
                    #expect(output.status == 0 && output.out == token, "\(shift): \(output.err)")
                }
                #expect(!lab.provider.out.text.contains("/refresh"))
                // A rejected token is renewed, whatever the date.
                try clock.set(seconds: -86_400)
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.authc("token").out != token)
            }, with: clock.environment)
    }

    @Test("the kernel reports a clock change: dates are corrected, and the token stays")
    func setForReal() async throws {
        let clock = try await WrongClock()
        try await NetworkLab.play(
            { lab, _ in
                try lab.setLife(seconds: 3600)
                #expect(try await lab.authc("refresh").status == 0)
                let (token, end) = (try await lab.authc("token").out, try await lab.end())
                try clock.set(seconds: 7200)
                guard try await clock.nudge() else {
                    // Without CAP_SYS_TIME nobody can set a clock, so there is no notification.
                    #expect(try await lab.end() == end)
                    return
                }
                // Each query is a round trip.
                var moved = try await lab.end()
                for _ in 1...400 where moved == end { moved = try await lab.end() }
                #expect(abs(.seconds(moved - end - 7200)) < .seconds(1), "\(moved - end) s")
                #expect(try await lab.authc("token").out == token)
            }, with: clock.environment)
    }

    @Test("a machine whose clock is a year behind at start signs in, renews, and reports the wrong clock")
    func wrongAtStart() async throws {
        let clock = try await WrongClock()
        try clock.set(seconds: -365 * 86_400)
        try await NetworkLab.play(
            { lab, _ in
                try lab.setLife(seconds: 4)
                #expect(try await lab.authc("refresh").status == 0)
                // Without a request, when it is due.
                #expect(await lab.provider.out.wait(for: "POST /refresh 200", times: 2))
                #expect(try await lab.authc("token").status == 0)
                let status = try await lab.authc("status")
                #expect(status.out.contains("clock is 364 d 23 h behind that of lab"), "\(status.out)")
                let doctor = try await lab.authc("doctor")
                #expect(doctor.out.contains("clock is 364 d 23 h behind that of lab"), "\(doctor.out)")
            }, with: clock.environment)
    }

    @Test("case 20: a provider two hours ahead or behind sends dates, and tokens keep their lifetime")
    func providerClock() async throws {
        for shift in [7200, -7200] {
            try await NetworkLab.play { lab, _ in
                try lab.setLife(seconds: 3600, providerAhead: shift)
                let refresh = try await lab.authc("refresh")
                #expect(refresh.status == 0, "\(refresh.err)")
                let status = try SessionStatus(JSON(parsing: Array(try await lab.authc("status", "--json").out.utf8)))
                #expect(status.state == .active)
                let left = try #require(status.expiresAt) - Date().timeIntervalSince1970
                #expect((3590...3601).contains(left), "\(left) s left")
                let skew = try #require(status.clockSkew)
                #expect(abs(skew - .seconds(shift)) <= .seconds(2), "\(skew)")
                #expect(try await lab.network().clockSkews["lab"] == skew)
                let reported = try await lab.authc("status").out
                #expect(reported.contains("clock is 1 h 59 min") || reported.contains("clock is 2 h "), "\(reported)")
                let doctor = try await lab.authc("doctor", "--json")
                #expect(doctor.status == 0)
                #expect(doctor.out.contains(#""check":"clock","level":"warning""#), "\(doctor.out)")
                // After the correction nothing is reported.
                try lab.setLife(seconds: 3600)
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.network().clockSkews == [:])
                #expect(!(try await lab.authc("doctor", "--json").out.contains(#""check":"clock","level":"warning""#)))
            }
        }
    }

    @Test("on a machine that has slept for a month a token is renewed when it is due")
    func monthAsleep() async throws {
        // A time namespace (time_namespaces(7)): CLOCK_BOOTTIME is a month ahead of CLOCK_MONOTONIC.
        let asleep = ["unshare", "--time", "--boottime", "2592000", "--fork", "--kill-child", "--"]
        try await NetworkLab.play(
            { lab, _ in
                try lab.setLife(seconds: 6)
                #expect(try await lab.authc("refresh").status == 0)
                #expect(await lab.provider.out.wait(for: "POST /refresh 200", times: 2))
                let token = try await lab.authc("token")
                #expect(token.status == 0, "\(token.err)")
                #expect(!lab.provider.out.text.contains("REUSED"))
            }, wrapping: asleep)
    }
}

extension NetworkLab {
    /// The token's expiry in Unix seconds.
    fileprivate func end() async throws -> Double {
        let status = try SessionStatus(JSON(parsing: Array(try await authc("status", "--json").out.utf8)))
        return try #require(status.expiresAt)
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
