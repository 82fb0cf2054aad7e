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

    @Test("words after the cursor do not change the word at the cursor")
    func wordsAfter() throws {
        let words = Line.words("---completion send -- positional@0 2 2 ship send adam --depot north")
        guard case .completions("5\n2\nad") = try Line.parse(words) else { throw Line.OtherLine() }
        let outside = Line.words("---completion send -- positional@0 9 2 ship send")
        guard case .completions("2\n9\n") = try Line.parse(outside) else { throw Line.OtherLine() }
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

    @Test("bash gets a row for each option, argument and command, with how each value is completed")
    func bash() {
        let script = CompletionScript.text(for: .bash, root: Ship.self)
        let rows = """
                'send') rows='--depot|=
            -e --express|-
            --insure|-
            --no-insure|-
            --signature|-
            --no-signature|-
            -w --weight|=
            --speed|=slow fast
            -t --label|+/
            --currency|=EUR USD
            --tracking-report|=all
            |=@
            |+
            --version|-
            -h --help|-' ;;

            """
        #expect(script.contains(rows))
        #expect(script.contains("    'note') rows='--version|-\n-h --help|-\nadd|>\nlist|>' ;;\n"))
        #expect(script.hasSuffix("\ncomplete -F _ship_and_values ship"))
    }

    @Test("zsh and fish also get abstracts, in which a quote stands for itself")
    func abstracts() {
        let zsh = CompletionScript.text(for: .zsh, root: Ship.self)
        #expect(zsh.hasPrefix("#compdef ship\n"))
        #expect(zsh.contains("    'note add') rows='--order|=|The order'\\''s number.\n|+|\n--version|-|"))
        let fish = CompletionScript.text(for: .fish, root: Ship.self)
        #expect(fish.contains("        case 'note add'\n            echo '--order|=|The order\\'s number.\n|+|\n"))
        for script in [zsh, fish] { #expect(script.contains("\n--speed|=slow fast|The speed: slow or fast.\n")) }
    }

    @Test("options before the command are those of the first command that has them")
    func leading() {
        for shell in CompletionShell.allCases {
            let usual = CompletionScript.text(for: shell, root: Ship.self)
            let script = CompletionScript.text(for: shell, root: Ship.self, leading: ["--label", "--order"])
            let abstract = shell == .bash ? "" : "|A label; repeatable."
            #expect(script.contains("'-t --label|+/\(abstract)\n--version|-"), "\(shell)")
            #expect(!usual.contains("'-t --label"), "\(shell)")
        }
    }
}
