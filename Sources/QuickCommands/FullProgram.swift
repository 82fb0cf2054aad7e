import CStart

/// The program that has every command: it replaces this one.
enum FullProgram {
    static let name: StaticString = "authc-full"
    /// EX_SOFTWARE (sysexits(3head)).
    private static let failed: Int32 = 70

    /// - Returns: only if it cannot be started: the exit status.
    static func run(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        guard let folder = InstalledFiles.ownFolder() else {
            Message.write("cannot find authc-full, which has its commands: /proc is not there")
            return failed
        }
        var first: ByteString?
        for place in InstalledFiles.places {
            var path = folder
            path.append(place)
            path.append(name)
            let number = unsafe path.withCString { unsafe start_open_program($0) }
            if number < 0, start_errno() == ENOENT || start_errno() == ENOTDIR {
                first = first ?? path
                continue
            }
            guard number >= 0 else { return report(path, start_errno()) }
            guard InstalledFiles.trusted(number) != nil else {
                Message.write("its owner or mode is not safe, so it is not started: ", path: path)
                return failed
            }
            // A script would need the path; a program does not (fexecve(3)).
            _ = unsafe start_run(number, words)
            return report(path, start_errno())
        }
        return report(first ?? folder, ENOENT)
    }

    private static func report(_ path: ByteString, _ reason: Int32) -> Int32 {
        Message.write("cannot start ", path: path, reason: reason)
        return failed
    }
}
