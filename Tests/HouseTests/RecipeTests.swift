import Testing

@Suite("The recipes")
struct RecipeTests {
    /// What a test may use to name a block: `block(with:)` and the others give the first block that contains a text.
    private static let shortest = 8

    @Test("each block is used by a test, which finds it by its text")
    func blocksAreUsed() throws {
        let page = try #require(ProjectFiles.file("Docs/recipes.md"))
        let blocks = page.text.matches(of: /```[a-z]*\n((?:(?!```).*\n)*)```/).map { String($0.1) }
        #expect(blocks.count >= 60)
        let suites = ProjectFiles.swiftFiles().filter {
            $0.path.hasPrefix("Tests/") && $0.text.contains(/Recipes\.block|writeRecipe\(|"Docs\/recipes\.md"/)
        }
        let texts = suites.flatMap { suite in
            suite.text.matches(of: /#?"((?:\\.|[^"\\\n])*)"/).map { $0.1.replacing("\\\"", with: "\"") }
        }
        var unused = Set(blocks.indices)
        for text in texts where text.count >= Self.shortest {
            if let place = blocks.firstIndex(where: { $0.contains(text) }) { unused.remove(place) }
        }
        for place in unused.sorted() { Issue.record("no test uses the block:\n\(blocks[place])") }
    }
}
