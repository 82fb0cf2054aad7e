import Testing

@Suite("Names of commands")
struct CommandNameTests {
    @Test("every command of authc begins its configuration with its name")
    func written() {
        var (commands, names) = (0, 0)
        for file in ProjectFiles.files(under: "Sources/authc") where file.path.hasSuffix(".swift") {
            commands += file.text.matches(of: /struct \w+: (Agent|Parsable)Command\b/).count
            for configuration in file.text.split(separator: " = CommandConfiguration(").dropFirst() {
                let argument = configuration.drop(while: \.isWhitespace)
                #expect(argument.hasPrefix("commandName: \""), "\(file.path): \(argument.prefix(60))")
                names += 1
            }
        }
        #expect(commands == names && commands > 90, "\(commands) commands, \(names) names")
    }
}
