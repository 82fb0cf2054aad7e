import AuthModel

/// The life of a token, measured with CLOCK_BOOTTIME.
struct MeasuredLife: Sendable {
    var start: BootInstant { didSet { measure() } }
    /// `nil` if its end is unknown.
    var length: Duration? { didSet { measure() } }
    /// How much later than `start` the provider may have begun to count: at most the time that its response took.
    var slack = Duration.zero

    /// Stored, because each event reads it several times, and few events change it.
    private(set) var end: BootInstant?

    init(start: BootInstant, length: Duration? = nil) {
        (self.start, self.length) = (start, length)
        measure()
    }

    private mutating func measure() { end = length.map { start + $0 } }

    /// When the provider itself surely considers it ended.
    var endAtProvider: BootInstant? { end.map { $0 + slack + RenewalPolicy.endTolerance } }

    func isOver(at now: BootInstant) -> Bool { end.map { $0 <= now } ?? false }
    func left(at now: BootInstant) -> Duration? { end.map { max(.zero, $0 - now) } }

    /// Whether it lasts as long as the caller requires; `nil`: as ``RenewalPolicy/defaultMinValid(life:)`` says.
    func isEnough(_ minValid: Duration?, at now: BootInstant) -> Bool {
        end.map { $0 - now >= minValid ?? RenewalPolicy.defaultMinValid(life: length) } ?? true
    }

    /// So young that age is not the reason for a 401, and a renewal would not help.
    func isTooYoungToReject(at now: BootInstant) -> Bool {
        !RenewalPolicy.canReject(age: now - start, life: length)
    }
}
