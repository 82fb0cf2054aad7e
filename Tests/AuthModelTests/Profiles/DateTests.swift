import AuthModel
import Testing

@Suite("Dates in responses")
struct DateTests {
    @Test(
        "RFC 3339 and RFC 9557 dates are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-01-30T15:17:41-08:00[America/Los_Angeles]", 1_769_815_061),
            ("2026-01-30T23:17:41Z", 1_769_815_061), ("2026-01-30t23:17:41z", 1_769_815_061),
            ("2026-01-30 23:17:41+00:00", 1_769_815_061), ("2026-01-30T23:17:41.5Z", 1_769_815_061.5),
            ("2026-01-30T23:17:41.123456789Z", 1_769_815_061.123456789),
            ("2026-01-31T04:47:41+05:30[Asia/Kolkata]", 1_769_815_061),
            ("2026-01-30T15:17-08:00[America/Los_Angeles]", 1_769_815_020), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2000-02-29T12:00:00Z", 951_825_600), ("1999-12-31T23:59:59Z", 946_684_799),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("1969-12-31T23:59:59Z", -1),
            ("1600-01-01T00:00:00Z", -11_676_096_000),
            ("2026-01-30T23:17:41Z[!Etc/UTC][u-ca=iso8601]", 1_769_815_061), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ])
    func instants(_ text: String, _ seconds: Double) {
        #expect(TimestampParser.parse(text)?.unixSeconds == seconds)
    }

    @Test(
        "an incomplete date, or a day that does not exist, is rejected",
        arguments: [
            "", "soon", "2026-01-30", "2026-01-30T23:17:41", "2026-01-30T15:17:41[America/Los_Angeles]",
            "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-30T24:00:00Z", "2026-01-30T23:60:00Z",
            "2026-01-30T23:17:61Z", "2026-01-30T23:17:41.Z", "2026-01-30T23:17:41Zx", "2026-01-30T23:17:41+24:00",
            "2026-01-30T23:17:41+0800", "2026-01-30T23:17:41Z[", "2026-01-30T23:17:41Z[]", "2026-01-30T23:17:41Z[a b]",
            "2026-01-30T23:17:41Z[!x-unknown=1]", "+2026-01-30T23:17:41Z", "2026-1-30T23:17:41Z",
            "２０２６-01-30T23:17:41Z",
        ])
    func noInstants(_ text: String) {
        #expect(TimestampParser.parse(text) == nil)
    }

    @Test(
        "all three forms of an HTTP date are the same instant",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func httpDates(_ text: String) {
        #expect(HTTPDate.parse(text, now: WallTime(unixSeconds: 1_769_815_061))?.unixSeconds == 784_111_777)
    }

    @Test(
        "a two-digit year is never more than 50 years ahead",
        arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("00", 2000)])
    func centuries(_ year: String, _ expected: Int) {
        let now = WallTime(unixSeconds: 1_769_815_061)
        let short = HTTPDate.parse("Sunday, 06-Nov-\(year) 08:49:37 GMT", now: now)
        #expect(short == HTTPDate.parse("Sun, 06 Nov \(expected) 08:49:37 GMT", now: now))
    }

    @Test(
        "an invalid HTTP date is rejected",
        arguments: [
            "", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
        ])
    func noHTTPDates(_ text: String) {
        #expect(HTTPDate.parse(text, now: WallTime(unixSeconds: 0)) == nil)
    }
}
