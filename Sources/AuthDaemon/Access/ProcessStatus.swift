/// A line of `/proc/PID/stat` (proc(5)).
struct ProcessStatus: Equatable {
    /// Since boot, in clock ticks.
    let startTicks: UInt64
    /// The controlling terminal, such as `pts/3`.
    let terminal: String?

    init?(_ text: String) {
        // The name in field 2 may contain spaces and parentheses.
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // The first one is the parenthesis: field 3 has the index 1.
        let fields = text[end...].split(separator: " ", maxSplits: 24)
        guard fields.count > 20, let start = UInt64(fields[20]) else { return nil }
        startTicks = start
        terminal = Int32(fields[5]).flatMap(Self.terminal)
    }

    /// The name of a terminal in `/dev`, from its device number as the kernel encodes it.
    private static func terminal(_ number: Int32) -> String? {
        let bits = UInt32(bitPattern: number)
        let (major, minor) = ((bits >> 8) & 0xfff, (bits & 0xff) | ((bits >> 12) & 0xf_ff00))
        switch major {
        case 0: return nil
        case 4: return minor < 64 ? "tty\(minor)" : "ttyS\(minor - 64)"
        case 136...143: return "pts/\((major - 136) * 256 + minor)"
        default: return "\(major):\(minor)"
        }
    }
}
