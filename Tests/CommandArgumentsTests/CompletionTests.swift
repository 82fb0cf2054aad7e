import CommandArguments
import Testing

@Suite("Completion scripts and what they ask for")
struct CompletionTests {
    @Test(
        "a script's request gets the words, the index of the word at the cursor, and that word up to the cursor",
        arguments: ["---completion send -- positional@0 2 2 ship send adam"])
    func request(line: String) throws {
        guard case .completions("3\n2\nad") = try Line.parse(Line.words(line)) else { throw Line.OtherLine() }
        let forZsh = try CommandParser.parse(Line.words(line), root: Ship.self, shell: .zsh)
        guard case .completions("3\n2\nad\n ") = forZsh else { throw Line.OtherLine() }
    }

    @Test(
        "a request for values that the program does not have is refused",
        arguments: [
            "---completion", "---completion send", "---completion nothing -- positional@0 0 0",
            "---completion send -- --bogus 0 0", "---completion send -- --weight 0 0",
            "---completion send -- positional@3 0 0", "---completion send -- positional@-1 0 0",
            "---completion send -- positional@0 x 0", "---completion send -- positional@0 0 1",
            "---completion send -- positional@0 0 -1 ship", "---completion send -- -- 0 0",
        ])
    func refused(line: String) {
        #expect(throws: UsageError.unknownCompletion) { try Line.parse(Line.words(line)) }
    }

    @Test("each script has every command and option that is not hidden", arguments: CompletionShell.allCases)
    func script(shell: CompletionShell) {
        let script = CompletionScript.text(for: shell, root: Ship.self)
        for word in ["send", "note", "list", "help", "tracking-report", "no-insure", "newest-first", "EUR"] {
            #expect(script.contains(word), "\(word)")
        }
        for word in ["secret", "quiet", "port"] {
            #expect(!script.contains("-" + word) && !script.contains(" \(word)"), "\(word)")
        }
    }

    @Test("bash gets the names of options, and how each value is completed")
    func bash() {
        let script = CompletionScript.text(for: .bash, root: Ship.self)
        #expect(script.contains("    repeating_options=(-t --label)\n"))
        #expect(script.contains("    '--currency')\n        __ship_add_completions -W 'EUR'$'\\n''USD'\n"))
        #expect(script.contains("    '-t'|'--label')\n        __ship_add_completions -f\n"))
        #expect(script.hasSuffix("\ncomplete -o filenames -F _ship_and_values ship"))
        #expect(script.contains("(__ship_custom_complete ---completion send -- positional@0 \"${COMP_CWORD}\""))
    }

    @Test("zsh gets descriptions, in which brackets, colons and quotes stand for themselves")
    func zsh() {
        let script = CompletionScript.text(for: .zsh, root: Ship.self)
        #expect(script.contains("'--speed[The speed\\: slow or fast.]:speed:{__ship_complete \"${___speed[@]}\"}'"))
        #expect(script.contains("'--order[The order'\\''s number.]:order:"))
        #expect(script.contains("'*'{-t,--label}'[A label; repeatable.]:label:_files'"))
    }

    @Test("fish gets a line for each option, argument and command")
    func fish() {
        let script = CompletionScript.text(for: .fish, root: Ship.self)
        #expect(script.contains("\"ship send\" currency' -l 'currency' -d 'The currency.' -rfka 'EUR USD'\n"))
        #expect(script.contains("-eq 1' -fa 'note' -d 'Write notes.'\n"))
        #expect(script.contains("'e/express' 'insure' 'no-insure'"))
    }
}
