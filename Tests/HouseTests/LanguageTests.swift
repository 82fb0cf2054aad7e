import Testing

/// The sources use the terms of the field, and the docs plain English.
@Suite("The project's language")
struct LanguageTests {
    /// Former names of types. Method types such as `LoginStart` are called as their method.
    private static let types: Set<Substring> = [
        "APIDesk", "APIOrder", "AnswerDesk", "AnswerReader", "Bell", "ClientShelf", "Crew", "Door", "GrantReader",
        "Happening", "Job", "KeptAnswer", "KeptAnswers", "KeyChest", "Likeness", "Login", "LoginDesk", "Members",
        "NetworkKeeper", "OutboxDesk", "OutboxSight", "PageIdentity", "Parcel", "Reception", "SealedShelf",
        "SessionWorld", "SignInTools", "StoreDesk", "Surroundings", "TokenAim", "TokenAnswer", "Wanted", "Why",
        "Workshop",
    ]
    private static let typeEndings = ["Chest", "Crew", "Desk", "Keeper", "Shelf", "Workshop"]
    /// Former names of functions, values, cases and parameters. `members(_:)` and ordinary words, such as `wanted`, are not.
    private static let names: Set<Substring> = [
        "aim", "aimed", "aims", "bell", "came", "crew", "desk", "door", "forgetAnswers", "goodbye", "happening",
        "hear", "heard", "hears", "heed", "heeds", "herald", "heralds", "keeper", "likeness", "meet", "meets", "met",
        "parcel", "parcels", "patience", "personIsHere", "reception", "shelf", "take", "takes", "why", "workshop",
    ]

    @Test("no declared identifier and no file has a name of the former dialect")
    func identifiers() {
        let files = ProjectFiles.swiftFiles()
        #expect(files.count > 1000)
        for file in files {
            let base = file.path.split(separator: "/").last.map { $0.prefix { $0 != "." && $0 != "+" } } ?? ""
            if Self.isFormerType(base) { Issue.record("\(file.path)") }
            for (number, line) in SourceText(file).code {
                for name in Self.formerNames(in: line) { Issue.record("\(file.path):\(number) declares \(name)") }
            }
        }
    }

    @Test(
        "a declaration is found, and a use is not",
        arguments: [
            ("let patience = 3", ["patience"]), ("func wait(_ patience: Int, aim: Int)", ["patience", "aim"]),
            ("for happening in events {", ["happening"]), ("if let (why, other) = pair {", ["why"]),
            ("    case came", ["came"]), ("package struct Parcel {", ["Parcel"]),
            ("actor StoreKeeper: Sendable {", ["StoreKeeper"]), ("enum LoginStart: AgentMethod {", []),
            ("func members(_ m: inout some MemberVisitor)", []), ("case .came:", []), ("names.take(3)", []),
            ("var takesEffect = true", []), ("struct Shelfful {", []),
        ] as [(String, [String])])
    func declarations(line: String, found: [String]) {
        #expect(Self.formerNames(in: line) == found)
    }

    private static func isFormerType(_ name: Substring) -> Bool {
        types.contains(name) || typeEndings.contains { name.hasSuffix($0) }
    }

    private static let typeKeywords: Set<Substring> = [
        "actor", "associatedtype", "class", "enum", "protocol", "struct", "typealias",
    ]
    private static let valueKeywords: Set<Substring> = ["case", "for", "func", "let", "var"]

    /// The names of the former dialect that a line of code declares.
    private static func formerNames(in line: String) -> [String] {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return words.indices.compactMap { index in
            let word = words[index]
            let keyword = index == 0 ? "" : words[index - 1]
            if typeKeywords.contains(keyword) { return isFormerType(word) ? String(word) : nil }
            guard names.contains(word), line[..<word.startIndex].last != "." else { return nil }
            let before = line[..<word.startIndex]
            let isInTuple = before.contains("let (") || before.contains("var (")
            let isParameter = line[word.endIndex...].first == ":"
            return valueKeywords.contains(keyword) || isParameter || isInTuple ? String(word) : nil
        }
    }

    /// Idioms that are literal translations. Written so that this file does not contain them.
    private static let idioms = [
        "under" + " way", "an" + "ew", "me" + "nd", "me" + "nds", "is" + " told", "are" + " told", "for" + " good",
        "of its" + " own", "of their" + " own",
    ]

    @Test("docs, texts and comments are in plain English")
    func phrases() {
        for file in ProjectFiles.allFiles() where file.path.hasPrefix("Docs/") || file.path == "README.md" {
            // A phrase may be on two lines.
            let text = file.text.split { $0.isWhitespace }.joined(separator: " ")
            for phrase in Self.phrases(in: text) { Issue.record("\(file.path) has \"\(phrase)\"") }
        }
        for file in ProjectFiles.swiftFiles() {
            for (index, line) in file.lines.enumerated() where line.contains("\"") {
                for text in Self.texts(in: line) {
                    for phrase in Self.phrases(in: text) {
                        Issue.record("\(file.path):\(index + 1) has \"\(phrase)\"")
                    }
                }
            }
            for (number, comment) in Self.comments(in: file.lines) {
                for phrase in Self.phrases(in: comment) {
                    Issue.record("\(file.path):\(number) has \"\(phrase)\"")
                }
                if Self.openings.contains(where: comment.hasPrefix) {
                    Issue.record("\(file.path):\(number) begins a comment with \"\(comment.prefix(4))\"")
                }
            }
        }
    }

    /// No comment begins with these: it says what something is, or what it does.
    private static let openings = ["Of ", "Who "]

    @Test("the lines of a comment are read as one text, and other lines are not")
    func commentRules() {
        let lines = ["    /// A part", "    /// of a text.", "    let a = 1 // b", "    // Another."]
        let comments = Self.comments(in: lines.map { $0[...] })
        #expect(comments.map(\.number) == [1, 4])
        #expect(comments.map(\.text) == ["A part of a text.", "Another."])
    }

    /// The comments that have their lines to themselves, with the number of the first line.
    private static func comments(in lines: [Substring]) -> [(number: Int, text: String)] {
        var comments: [(number: Int, text: String)] = []
        var isInComment = false
        for (index, line) in lines.enumerated() {
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix("//") {
                let text = trimmed.drop { $0 == "/" }.drop { $0 == " " }
                if isInComment, let last = comments.indices.last {
                    comments[last].text += " " + text
                } else {
                    comments.append((index + 1, String(text)))
                }
            }
            isInComment = trimmed.hasPrefix("//")
        }
        return comments
    }

    @Test(
        "a phrase is found as whole words, and in a text only",
        arguments: [
            (#"let a = "one \" is"# + #" told""#, true), (#"let a = "recommend" // is"# + " told", false),
            (#"let isT = "is", told = "told""#, false),
        ] as [(String, Bool)])
    func phraseRules(line: String, isFound: Bool) {
        #expect(Self.texts(in: line[...]).contains { !Self.phrases(in: $0).isEmpty } == isFound)
    }

    private static func phrases(in text: String) -> [String] {
        idioms.filter { phrase in
            text.contains(phrase)
                && text.ranges(of: phrase).contains { range in
                    let isWord = { (character: Character?) in character.map { $0.isLetter || $0.isNumber } ?? false }
                    return !isWord(text[..<range.lowerBound].last) && !isWord(text[range.upperBound...].first)
                }
        }
    }

    /// The parts of a line between quotation marks.
    private static func texts(in line: Substring) -> [String] {
        var (texts, text) = ([String](), String?.none)
        var previous: Character = " "
        for character in line {
            if character == "\"" && previous != "\\" {
                if let ended = text { texts.append(ended) }
                text = text == nil ? "" : nil
            } else {
                text?.append(character)
            }
            previous = character
        }
        return texts
    }
}
