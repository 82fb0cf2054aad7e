import AuthWire

/// What was typed behind an endpoint's name: `NAME=TEXT`, `NAME:=JSON`, `NAME=@FILE` for a file; secrets by descriptor or
/// prompt, never by argv.
struct CallArguments {
    private let typed: [(name: String, value: String, isJSON: Bool)]
    private let secrets: [String: String]

    init(_ words: [String], secretDescriptors: [String]) throws(Failure) {
        var typed: [(name: String, value: String, isJSON: Bool)] = []
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
                // Not repeated: it may be a secret in the wrong place.
                throw .usage("an argument has the form NAME=VALUE, NAME:=JSON or NAME=@FILE")
            }
            let left = word[..<equals]
            let isJSON = left.hasSuffix(":")
            let name = String(isJSON ? left.dropLast() : left)
            guard !typed.contains(where: { $0.name == name }) else { throw .usage("\(name) is given twice") }
            typed.append((name, String(word[word.index(after: equals)...]), isJSON))
        }
        self.typed = typed
        secrets = try FieldArguments(fields: [], descriptors: secretDescriptors, passwordFromInput: false).unchecked
    }

    /// - Parameter info: `nil` for an endpoint that is not known here.
    /// - Returns: them, and the one file that is too long for a line.
    func values(for info: EndpointInfo?, _ options: Options) throws(Failure) -> (JSONObject, BodyFile?) {
        var values = JSONObject()
        var long: BodyFile?
        for (name, text, isJSON) in typed {
            let argument = info?.args.first { $0.name == name }
            guard argument?.secret != true else {
                throw .usage(
                    "\(name)=…: a secret given as an argument can be read by every program of this machine",
                    hint: "use --secret-fd \(name)=3 3<FILE, or let authc ask; and change that secret")
            }
            if isJSON {
                guard let json = try? JSON(parsing: text) else { throw .usage("\(name):=… is no JSON") }
                values[name] = json
            } else if argument?.type == .file {
                switch try content(name, text) {
                case .bytes(let bytes): values[name] = ["body_base64": .string(Base64.encode(bytes))]
                case .stream(let file):
                    guard long == nil else { throw .secondLongFile }
                    values[name] = ["body_stream": file.announced.json]
                    long = file
                }
            } else {
                values[name] = .string(text)
            }
        }
        for (name, value) in secrets { values[name] = .string(value) }
        // What else is wrong is reported by the agent, before a secret is asked for in vain.
        guard let info, isComplete(values, for: info) else { return (values, long) }
        for argument in info.args where argument.secret && !argument.optional && values[argument.name] == nil {
            values[argument.name] = try ask(argument, options).map(JSON.string)
        }
        return (values, long)
    }

    /// Whether nothing but secrets is missing, and nothing is unknown.
    private func isComplete(_ values: JSONObject, for info: EndpointInfo) -> Bool {
        info.args.allSatisfy { $0.secret || $0.optional || values[$0.name] != nil }
            && values.allSatisfy { member in info.args.contains { $0.name == member.key } }
    }

    /// For what is changed at the provider: `NAME=TEXT`, `NAME=@FILE` for the text of a file, and the same of JSON.
    func fields() throws(Failure) -> JSONObject {
        var values = JSONObject()
        for (name, typed, isJSON) in typed {
            let text = try typed.hasPrefix("@") ? fileText(name, typed) : typed
            guard isJSON else {
                values[name] = .string(text)
                continue
            }
            guard let json = try? JSON(parsing: text) else { throw .usage("\(name):=… is no JSON") }
            values[name] = json
        }
        return values
    }

    /// Without the line feed that `echo` and editors add.
    private func fileText(_ name: String, _ typed: String) throws(Failure) -> String {
        do throws(Failure) {
            var text = try FileText.read(String(typed.dropFirst()), atMost: RequestBody.longest)
            if text.utf8.last == UInt8(ascii: "\n") { text.removeLast() }
            return text
        } catch {
            throw .usage(error.message, hint: "a text that begins with @ is given as JSON: \(name):='\"@…\"'")
        }
    }

    private func content(_ name: String, _ text: String) throws(Failure) -> BodyFile.Content {
        guard text.hasPrefix("@") else { throw .usage("\(name) is a file: write \(name)=@FILE") }
        return try BodyFile.open(String(text.dropFirst()), wholeUpTo: RequestBody.longest)
    }

    /// `nil` where nobody can be asked: the agent tells what is missing.
    private func ask(_ argument: ArgumentInfo, _ options: Options) throws(Failure) -> String? {
        guard options.canPrompt else { return nil }
        let question = Visible.line(argument.about ?? argument.name) + ": "
        guard let line = try TerminalInput.ask(question, isSecret: true) else {
            throw .cancelled("the call was cancelled")
        }
        return line
    }
}
