import AuthModel
import AuthWire

/// What a host says about itself. Anyone with access to etcd can write it: it is for users, and nothing is decided by it.
struct HostReport: Sendable, Equatable {
    /// No authd has a longer one.
    private static let maxVersion = 64

    /// That of its authd.
    let version: String
    /// By the host's own clock.
    let writtenAt: WallTime

    init(version: String, writtenAt: WallTime) {
        (self.version, self.writtenAt) = (version, writtenAt)
    }

    /// `nil` if the bytes are not a report.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, values: EtcdLimits.jsonValues),
            let version = json["authd"]?.stringValue, !version.isEmpty, version.utf8.count <= Self.maxVersion,
            let date = json["at"]?.doubleValue, date.isFinite
        else { return nil }
        self.init(version: version, writtenAt: WallTime(unixSeconds: date))
    }

    var bytes: [UInt8] {
        JSON.object(["authd": .string(version), "at": .number(writtenAt.unixSeconds)]).serialized()
    }
}
