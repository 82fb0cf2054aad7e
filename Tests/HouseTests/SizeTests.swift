import Testing

@Suite("Files stay small")
struct SizeTests {
    /// A longer file has more than one subject.
    private static let maxLines = 400
    /// `main.swift` of the agent only starts the composition.
    private static let maxLinesOfMain = 80

    @Test("no Swift file is longer than 400 lines")
    func filesAreShort() {
        for file in ProjectFiles.swiftFiles() {
            #expect(file.lineCount <= Self.maxLines, "\(file.path) has \(file.lineCount) lines")
        }
    }

    @Test("main.swift of authd is at most 80 lines")
    func mainIsShort() throws {
        let main = try #require(ProjectFiles.file("Sources/authd/main.swift"))
        #expect(main.lineCount <= Self.maxLinesOfMain)
    }
}
