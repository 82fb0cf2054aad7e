import Foundation

/// A page of Docs/man, as far as tests look at it.
package struct ManPage {
    /// The tags of each section and subsection, by its title, without those of indented lists.
    package private(set) var tags: [String: [String]] = [:]
    /// What stands between `.nf` and `.fi`.
    package private(set) var examples: [String] = []

    package static func text(of name: String) throws -> String {
        try SourceTree.text("Docs/man/" + name)
    }

    package init(_ name: String) throws {
        var (section, isTag, depth, example) = ("", false, 0, [String]?.none)
        for line in try Self.text(of: name).split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if isTag {
                if depth == 0 { tags[section, default: []] += Self.words(line) }
                isTag = false
            } else if line.hasPrefix(".SH ") || line.hasPrefix(".SS ") {
                section = Self.plain(String(line.dropFirst(4)))
                tags[section] = tags[section] ?? []
            } else if line == ".TP" {
                isTag = true
            } else if line == ".RS" || line == ".RE" {
                depth += line == ".RS" ? 1 : -1
            } else if line == ".nf" {
                example = []
            } else if line == ".fi" {
                examples.append((example ?? []).joined(separator: "\n"))
                example = nil
            } else {
                example?.append(Self.plain(line))
            }
        }
    }

    /// What man(7) prints for a text without macros.
    package static func plain(_ text: String) -> String {
        text.replacing("\\-", with: "-").replacing("\\(dq", with: "\"").replacing("\\&", with: "")
            .replacing("\\e", with: "\\")
    }

    /// The words of a tag: `.B one` or `.BR one ", " two`.
    private static func words(_ line: String) -> [String] {
        guard line.hasPrefix(".B") else { return [] }
        let arguments = plain(line).split(separator: " ").dropFirst().map { $0.trimming("\",") }
        return arguments.filter { !$0.isEmpty }
    }
}

extension Substring {
    fileprivate func trimming(_ characters: String) -> String {
        var text = self
        while let first = text.first, characters.contains(first) { text = text.dropFirst() }
        while let last = text.last, characters.contains(last) { text = text.dropLast() }
        return String(text)
    }
}
