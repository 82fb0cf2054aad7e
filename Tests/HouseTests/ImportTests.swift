import Foundation
import Testing

@Suite("Each target imports only what its row in the table allows")
struct ImportTests {
    @Test("every folder of Sources has a row")
    func everyTargetIsInTheTable() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: ProjectFiles.root.appending(path: "Sources").path)
        // Not targets: a separate package, in Python, and what packages of distributions are made from.
        let known = Set(TargetRules.table.keys).union(TargetRules.bridges).union(["authd-client-python", "Packaging"])
        #expect(Set(folders) == known)
    }

    @Test("no file imports a module that its row does not name", arguments: TargetRules.table.keys.sorted())
    func importsAreAllowed(target: String) throws {
        let rules = try #require(TargetRules.table[target])
        let files = ProjectFiles.files(under: "Sources/" + target).filter { $0.path.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            for (number, line) in SourceText(file).code {
                guard let module = SourceText.importedModule(in: line) else { continue }
                #expect(rules.imports.contains(module), "\(file.path):\(number) imports \(module)")
            }
        }
    }

    @Test("no file uses what is forbidden for its target", arguments: TargetRules.table.keys.sorted())
    func forbiddenWordsAreAbsent(target: String) throws {
        let rules = try #require(TargetRules.table[target])
        for file in ProjectFiles.files(under: "Sources/" + target) where file.path.hasSuffix(".swift") {
            for found in rules.forbidden(in: file) { Issue.record("\(found)") }
        }
    }

    @Test("the model and the machines do not wait, and only ports may", arguments: ["AuthModel", "AuthMachines"])
    func decidingIsKeptFromWaiting(target: String) throws {
        let rules = try #require(TargetRules.table[target])
        let lines = ["actor Session {", "    func f() async {", "        await g()", "    let x = Mutex(0)"]
        for line in lines {
            let path = "Sources/\(target)/Session/Session.swift"
            #expect(rules.forbidden(in: TextFile(path: path, lines: [line[...]])).count == 1)
            let port = "Sources/\(target)/Ports/SessionStore.swift"
            #expect(rules.forbidden(in: TextFile(path: port, lines: [line[...]])).isEmpty)
        }
    }

    /// Which of several modules Swift finds `stat` in depends on the files that are compiled together, unless the file imports
    /// them.
    @Test("a file that calls stat() imports CLinux, too, unless only Glibc can be found from its target")
    func statIsDeclared() {
        let single: Set = ["AuthFiles", "AuthWire", "QuickCommands"]
        for file in ProjectFiles.files(under: "Sources")
        where file.path.hasSuffix(".swift") && !single.contains(file.target) {
            let code = SourceText(file).code
            guard !code.contains(where: { SourceText.importedModule(in: $0.line) == "CLinux" }) else { continue }
            for (number, line) in code {
                let isUsed = ["stat(", "lstat(", "fstat("].contains { SourceText.contains(word: $0, in: line) }
                #expect(!isUsed, "\(file.path):\(number): use FileStatus of AuthFiles, or import CLinux")
            }
        }
    }

    @Test("the simulator does not import the agent")
    func simulatorIsApart() {
        let allowed = TargetRules.standard.union(["AuthMachines", "AuthModel", "AuthWire"])
        for file in ProjectFiles.files(under: "Tests/Simulation") where file.path.hasSuffix(".swift") {
            for (number, line) in SourceText(file).code {
                guard let module = SourceText.importedModule(in: line) else { continue }
                #expect(allowed.contains(module), "\(file.path):\(number) imports \(module)")
            }
        }
    }

    @Test(
        "an import is recognised with any attributes",
        arguments: [
            ("import Foundation", "Foundation"), ("  public import NIOCore", "NIOCore"),
            ("@preconcurrency import Foundation", "Foundation"), ("@_exported package import Logging", "Logging"),
            ("import struct Foundation.Date", "Foundation"), ("@_spi(Testing) import AuthWire", "AuthWire"),
            ("let important = 1", nil), ("/// import Foundation", nil),
        ])
    func importIsRecognised(line: String, module: String?) {
        #expect(SourceText.importedModule(in: line) == module)
    }

    @Test(
        "a word counts only at its beginning",
        arguments: [
            ("let file = open(path)", "open(", true), ("reopen(path)", "open(", false),
            ("self.open(path)", "open(", false), ("Glibc.open(path)", "open(", true),
            ("func open(path: String)", "open(", false), ("unsafe getenv(name)", "getenv", true),
            ("await load()", "await", true), ("let awaited = 1", "await", false),
        ])
    func wordIsRecognised(line: String, word: String, found: Bool) {
        #expect(SourceText.contains(word: word, in: line) == found)
    }
}
