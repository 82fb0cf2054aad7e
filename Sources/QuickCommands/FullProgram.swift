import CStart

/// The program that has every command: it takes the place of this one.
enum FullProgram {
    private static let name: StaticString = "authc-full"
    /// Where `make install` puts it, seen from the folder of `authc`; in a build both are in one folder.
    private static let installed: StaticString = "../libexec/authd-session/"
    private static let longestPath = 4096
    /// EX_SOFTWARE (sysexits(3head)).
    private static let missing: Int32 = 70

    /// - Returns: only if it cannot be started: the exit status.
    static func run(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        guard let folder = ownFolder() else { return report("its own path is unknown") }
        for place in [installed, ""] as [StaticString] {
            var path = folder
            path.append(place)
            path.append(name)
            _ = unsafe path.withCString { unsafe execv($0, words) }
        }
        return report("authc-full is not there")
    }

    /// With a slash at the end. Links to `authc` are followed (proc_pid_exe(5)).
    private static func ownFolder() -> ByteString? {
        unsafe withUnsafeTemporaryAllocation(byteCount: longestPath, alignment: 1) { room in
            let count = unsafe room.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe readlink("/proc/self/exe", $0, text.count) } ?? -1
            }
            guard count > 0, count < room.count else { return nil }
            guard let slash = unsafe room[..<count].lastIndex(of: .slash) else { return nil }
            return unsafe ByteString(Text(UnsafeRawBufferPointer(rebasing: room[...slash])))
        }
    }

    private static func report(_ problem: StaticString) -> Int32 {
        var line = ByteString()
        line.append("authc: cannot start its commands: ")
        line.append(problem)
        line.append(". Install authd again.\n")
        _ = unsafe line.bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        return missing
    }
}
