import Testing

/// A Swift `Character` is what a reader sees as one: a quote with a combining mark after it, or CRLF. Code that compares
/// characters does not find that quote or line feed, but a shell, a server, or the reader of a file does.
@Suite("Texts of others are compared by bytes or Unicode scalars")
struct CharacterTests {
    /// These divide, quote or check what a peer, a provider, a file or a user has written.
    private static let strict = [
        "AuthConfiguration/KeyScanner.swift", "AuthConfiguration/TOMLEscape.swift", "AuthConfiguration/TOMLPath.swift",
        "AuthDaemon/Access/ControlGroup.swift", "AuthDaemon/Sandbox/MountTable.swift", "AuthFiles/AtomicFile.swift",
        "AuthFiles/PrivateFolder.swift", "AuthGateway/Endpoint/EndpointRoute.swift",
        "AuthGateway/Front/FrontAccess.swift", "AuthGateway/Front/FrontHead.swift",
        "AuthGateway/Proxy/ProxyFields.swift", "AuthModel/HTTP/CacheControl.swift", "AuthModel/HTTP/HeaderRules.swift",
        "AuthModel/HTTP/MultipartBody.swift", "AuthModel/Values/BaseURL.swift", "AuthModel/Values/Origin.swift",
        "AuthModel/Values/PercentEncoding.swift",
        "AuthWire/Text/CommandText.swift", "AuthWire/Text/ShellWord.swift", "AuthWire/Text/VisibleText.swift",
        "authc/Desktop/DesktopEntry.swift", "authc/Helpers/GitHelper.swift", "authc/Helpers/TerraformHelper.swift",
        "authc/Helpers/TextHelpers.swift", "authc/Prompt/PromptText.swift",
    ].map { "Sources/" + $0 }

    /// Why other files may compare characters one by one.
    private static let reasons = [
        "AuthConfiguration/PromptFormat.swift": "the user's setting, for the same user's prompt",
        "AuthDaemon/Agent/AgentUsageProblem.swift": "the text of --help",
        "AuthDaemon/Listener/ExtraSocket.swift": "a path in the user's settings; another name is refused by the system",
        "AuthFront/FrontSocket.swift": "an option in a message of this project",
        "AuthModel/Profiles/Templates/Template.swift": "a brace that is not found is a literal one everywhere",
        "AuthProviders/Reading/SettingsReader.swift": "accepts digits only",
        "AuthWire/Endpoint/ServiceURL.swift": "accepts ASCII only",
        "authc/Advice/NameAdvice.swift": "a message of this project",
        "authc/CommandLine/HelpText.swift": "the text of --help",
        "authc/Helpers/CargoConfiguration.swift": "a line that is not understood is not changed",
        "authc/Helpers/ConfigurationText.swift": "the ends of lines without an LF",
        "authc/Helpers/TerraformConfiguration.swift": "a line that is not understood is not changed",
        "authc/Output/Layout.swift": "columns of a terminal",
        "authc/Profiles/DescriptionURL.swift": "the rest must be ASCII; it guards nothing",
        "authc/Profiles/OpenAPIDocument+Endpoints.swift": "accepts ASCII letters only",
        "authc/Session/SessionTemplate.swift": "the user's argument",
    ]

    @Test("what divides, quotes or checks texts of others does not compare characters", arguments: strict)
    func strictFiles(path: String) throws {
        let file = try #require(ProjectFiles.file(path))
        for (number, line) in SourceText(file).code where Self.comparesCharacters(line, isStrict: true) {
            Issue.record("\(path):\(number): compare bytes or Unicode scalars: \(line)")
        }
    }

    @Test("no other file compares characters one by one without a reason, and each reason is needed")
    func otherFiles() {
        var needed: Set<String> = []
        for file in ProjectFiles.files(under: "Sources") where file.path.hasSuffix(".swift") {
            // Test servers, which no user runs.
            guard !["StandInBackends", "stand-in-backends"].contains(file.target) else { continue }
            let name = String(file.path.dropFirst("Sources/".count))
            for (number, line) in SourceText(file).code
            where Self.comparesCharacters(line) || Self.replaces(line, in: file.target) {
                needed.insert(name)
                #expect(
                    Self.reasons[name] != nil, "\(file.path):\(number): compare bytes or Unicode scalars: \(line)")
            }
        }
        #expect(needed == Set(Self.reasons.keys))
    }

    /// CRLF is one character, which neither of the two is.
    @Test("no file looks for the end of a line among characters")
    func endsOfLines() {
        let searches = [#"contains("\n")"#, #"contains("\r")"#, #"contains { $0 == "\n" "#, #"contains { $0 == "\r" "#]
        for file in ProjectFiles.files(under: "Sources") where file.path.hasSuffix(".swift") {
            for (index, line) in file.lines.enumerated() where searches.contains(where: { line.contains($0) }) {
                let isExact = Self.exact.contains { line.contains($0) }
                #expect(isExact, "\(file.path):\(index + 1): compare bytes or Unicode scalars: \(line)")
            }
        }
    }

    @Test(
        "a comparison of characters is found, and one of bytes or scalars is not",
        arguments: [
            (#"for character in text {"#, true, true), (#"if character == "\"" { return }"#, true, true),
            (#"switch character {"#, true, true), (#"host.contains { "/?#".contains($0) }"#, true, true),
            (#"text.prefix { !"/:?#".contains($0) }"#, true, true),
            (#"host.utf8.contains { "/?#".utf8.contains($0) }"#, false, false),
            (#"text.split(separator: "'").joined(separator: "-")"#, true, true),
            (#"let lines = text.split(separator: "\n")"#, false, true),
            (#"let fields = line.utf8.split(separator: UInt8(ascii: " "))"#, false, false),
            (#"path.lastIndex(of: "/")"#, false, true), (#"names.contains("..")"#, false, false),
            (#"user.contains(where: \.isWhitespace)"#, false, true), (#"rest.first == "[""#, false, true),
            (#"user.unicodeScalars.contains { $0.properties.isWhitespace }"#, false, false),
            (#"url.drop { $0 != "/" }"#, false, true), (#"for scalar in text.unicodeScalars {"#, false, false),
            (#"case "\"", "\\": result += "\\" + String(scalar)"#, false, false),
        ] as [(String, Bool, Bool)])
    func rules(line: String, isFound: Bool, isFoundStrictly: Bool) throws {
        let code = try #require(SourceText(TextFile(path: "a.swift", lines: [line[...]])).code.first).line
        #expect(Self.comparesCharacters(code) == isFound)
        #expect(Self.comparesCharacters(code, isStrict: true) == isFoundStrictly)
    }

    /// In a line without the content of its strings.
    private static let patterns = [
        "for character in ", "for letter in ", "switch character ", "character == \"", "character != \"",
        "\"\".contains",
    ]
    /// These are common, and harmless where all of the text is this project's own, or must be ASCII anyway.
    private static let strictPatterns = [
        "split(separator: \"", "firstIndex(of: \"", "lastIndex(of: \"", ".first == \"", ".last == \"",
        "drop { $0 == \"", "drop { $0 != \"", "prefix { $0 == \"", "prefix { $0 != \"", ".isWhitespace", ".isNewline",
        "Character",
    ]
    private static let exact = ["utf8", "unicodeScalars", "UInt8(ascii:", ".properties.", "isASCII"]

    private static let joins = ["\").joined(separator: ", "false).joined(separator: "]

    private static func comparesCharacters(_ line: String, isStrict: Bool = false) -> Bool {
        guard !exact.contains(where: { line.contains($0) }) else { return false }
        // What was between the parts is replaced.
        if line.contains("split(separator: \""), joins.contains(where: { line.contains($0) }) { return true }
        return patterns.contains { line.contains($0) } || (isStrict && strictPatterns.contains { line.contains($0) })
    }

    /// `replacing` of authc compares Unicode scalars (TextSearch.swift).
    private static func replaces(_ line: String, in target: String) -> Bool {
        target != "authc" && line.contains(".replacing(\"") && !exact.contains { line.contains($0) }
    }
}
