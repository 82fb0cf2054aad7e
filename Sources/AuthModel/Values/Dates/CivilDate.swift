/// A date and time in the Gregorian calendar, without a zone.
struct CivilDate: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    /// 60 in a leap second.
    var second = 0

    /// Whether this date and time exist.
    var isReal: Bool {
        (0...9999).contains(year) && (1...12).contains(month) && (1...Self.days(in: month, of: year)).contains(day)
            && (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
    }

    /// As if it were UTC. A leap second counts as the following second, because Unix time has none.
    var unixSeconds: Int {
        ((daysSinceEpoch * 24 + hour) * 60 + minute) * 60 + second
    }

    /// Counts whole 400-year cycles from March, so that the leap day ends a year.
    private var daysSinceEpoch: Int {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear - 719_468
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
