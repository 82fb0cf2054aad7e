import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// Names of programs and files for `authc exec -- …`, where a shell's own completion does not reach.
enum KnownPrograms {
    /// The first word after `--` is a program, the others are files.
    static func words(_ line: CompletionLine) -> [String] {
        guard let words = line.afterTerminator else { return [] }
        let isProgram = words.isEmpty && !line.prefix.contains("/")
        return isProgram ? programs(line.prefix) : files(line.prefix, isShellWord: true)
    }

    private static func programs(_ prefix: String) -> [String] {
        guard !prefix.isEmpty else { return [] }
        let folders = (environmentValue("PATH") ?? "").split(separator: ":").map(String.init)
        let found = folders.flatMap { folder in
            ((try? FolderEntries.names(in: folder)) ?? []).filter {
                $0.hasPrefix(prefix) && (unsafe access("\(folder)/\($0)", X_OK)) == 0
            }
        }
        return Array(Set(found)).sorted()
    }

    /// The files whose paths begin as what was typed. Folders end with a slash.
    /// - Parameter isShellWord: whether a shell expands `~/` at the start, which stays as it was typed.
    static func files(_ prefix: String, isShellWord: Bool = false) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let start = prefix.dropFirst(folder.count)
        let isAtHome = isShellWord && folder.hasPrefix("~/")
        let path = isAtHome ? (environmentValue("HOME") ?? "~") + folder.dropFirst() : folder
        let all = (try? FolderEntries.names(in: path.isEmpty ? "." : path)) ?? []
        let names = all.filter { name in
            name.hasPrefix(start) && (!name.hasPrefix(".") || start.hasPrefix("."))
        }
        return names.sorted().map { name in
            let isFolder = FileStatus(at: path + name)?.kind == .folder
            return folder + name + (isFolder ? "/" : "")
        }
    }
}
