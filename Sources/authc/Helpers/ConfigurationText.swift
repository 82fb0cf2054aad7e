import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// Another program's configuration file.
struct ConfigurationFile {
    private static let longest = 1 << 20

    let path: String
    private let isLink: Bool

    init(path: String) {
        self.path = path
        isLink = HelperScript.isLink(path)
    }

    /// A file below a folder that a variable names, or in the user's home if the variable is not set.
    static func path(_ name: String, in variable: String, else folder: String) throws(Failure) -> String {
        try path(in: variable, else: folder) + "/" + name
    }

    /// A path that a variable has, or one in the user's home if the variable is not set.
    static func path(in variable: String, else path: String) throws(Failure) -> String {
        guard let named = environmentValue(variable), !named.isEmpty else {
            return try HelperScript.home() + "/" + path
        }
        return named
    }

    /// A missing file is empty.
    func read() throws(Failure) -> [UInt8] {
        guard let target = isLink ? Self.target(of: path) : path else { return [] }
        let bytes = try Failure.ofFile { () throws(SystemFailure) in
            try AtomicFile(path: target).read(atMost: Self.longest) ?? []
        }
        guard bytes.count < Self.longest else { throw .usage("\(path) is too long") }
        return bytes
    }

    /// - Parameter change: what to do by hand if the file is a link. A rename would replace the link, and the target may belong
    ///   to a folder that other machines share.
    func replace(with bytes: [UInt8], change: ConfigurationChange, dryRun: Bool) throws(Failure) {
        guard !isLink else {
            let advice = change.isRemoval ? "remove this line from its target" : "add the line to its target"
            throw .usage("\(path) is a symbolic link: \(advice): \(change.line)")
        }
        guard !dryRun else { return }
        try Failure.ofFile { () throws(SystemFailure) in
            MissingFolders.create(for: path)
            try AtomicFile(path: path).replace(with: bytes)
        }
    }

    private static func target(of path: String) -> String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }
}

/// A line that is added to a configuration, or removed from it.
struct ConfigurationChange {
    let line: String
    let isRemoval: Bool
}

/// A program's configuration as lines. Lines of others keep their bytes.
struct ConfigurationText {
    private let file: ConfigurationFile
    /// Without the LF. In a file with CRLF they end with the CR. The last one is empty if the file ends with an LF.
    private(set) var lines: [String]
    var path: String { file.path }

    /// A missing file has one empty line.
    init(path: String) throws(Failure) {
        file = ConfigurationFile(path: path)
        guard let text = String(validating: try file.read(), as: UTF8.self) else {
            throw .usage("\(path) is not UTF-8")
        }
        // A Character may be CRLF.
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
    }

    /// Inserts a line that ends as the line before it does.
    mutating func insert(_ line: String, after number: Int) {
        let former = lines[number]
        lines.insert(former.hasSuffix("\r") ? line + "\r" : line, at: number + 1)
        let wasLast = number == lines.count - 2
        if wasLast, !former.hasSuffix("\r"), lines[0].hasSuffix("\r") { lines[number] += "\r" }
    }

    mutating func append(_ line: String) {
        let isEnded = lines[lines.count - 1].isEmpty
        if isEnded, lines.count == 1 {
            lines.insert(line, at: 0)
        } else {
            insert(line, after: lines.count - (isEnded ? 2 : 1))
        }
    }

    /// The reverse of ``insert(_:after:)``.
    mutating func remove(_ numbers: Set<Int>) {
        let isWithoutEnd = numbers.contains(lines.count - 1)
        lines = lines.enumerated().filter { !numbers.contains($0.offset) }.map(\.element)
        if isWithoutEnd, let last = lines.last, last.hasSuffix("\r") { lines[lines.count - 1].removeLast() }
        if lines.isEmpty { lines = [""] }
    }

    func write(_ change: ConfigurationChange, dryRun: Bool) throws(Failure) {
        try file.replace(with: Array(lines.joined(separator: "\n").utf8), change: change, dryRun: dryRun)
    }

    /// A line without spaces at its ends and without a CR.
    static func content(of line: String) -> Substring {
        var rest = line.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, " \t\r".contains(last) { rest.removeLast() }
        return rest
    }
}

extension Failure {
    /// The user's own file could not be read or changed.
    static func ofFile<Value>(_ work: () throws(SystemFailure) -> Value) throws(Failure) -> Value {
        do throws(SystemFailure) {
            return try work()
        } catch {
            throw .usage(error.description)
        }
    }
}
