/// Reads and writes lengths of time.
enum Span {
    /// `90`, `1.5s`, `250ms`, `10m`, `2h`, `1d`; seconds without a unit.
    static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite, let unit = seconds(in: text.dropFirst(digits.count)),
            number * unit <= 366 * 86_400
        else { return nil }
        return .milliseconds(Int64((number * unit * 1000).rounded()))
    }

    private static func seconds(in unit: Substring) -> Double? {
        switch unit {
        case "ms": 0.001
        case "", "s": 1
        case "m", "min": 60
        case "h": 3600
        case "d": 86_400
        default: nil
        }
    }

    /// The two largest units that are not zero: `45 s`, `9 min`, `1 h 5 min`, `3 d 2 h`.
    static func text(_ span: Duration) -> String {
        let parts = span.components
        guard parts.seconds > 0 else {
            return parts.attoseconds > 0 ? "\(parts.attoseconds / 1_000_000_000_000_000) ms" : "0 s"
        }
        return text(seconds: Double(parts.seconds))
    }

    static func text(seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e12)))
        let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60)
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<600: return whole % 60 == 0 ? "\(minutes) min" : "\(minutes) min \(whole % 60) s"
        case ..<3600: return "\(minutes) min"
        case ..<86_400: return minutes == 0 ? "\(hours) h" : "\(hours) h \(minutes) min"
        default: return hours == 0 ? "\(days) d" : "\(days) d \(hours) h"
        }
    }
}
