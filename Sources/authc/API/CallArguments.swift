import AuthWire

/// The arguments of an endpoint: `NAME=TEXT`, `NAME:=JSON`, or `NAME=@FILE` for a file. Secrets come from a descriptor or a
/// prompt, never from argv.
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

    /// - Parameter info: `nil` if the endpoint is unknown.
    /// - Returns: the arguments, and the one file that is too long for a line.
    func values(for info: EndpointInfo?, _ options: Options) throws(Failure) -> (JSONObject, BodyFile?) {
        var values = JSONObject()
        var long: BodyFile?
        for (name, text, isJSON) in typed {
            let argument = info?.args.first { $0.name == name }
            guard argument?.secret != true else {
                throw .usage(
                    "\(name)=…: every program on this machine can read a secret in an argument",
                    hint: "change that secret; then use --secret-fd \(name)=3 3<FILE, or let authc ask for it")
            }
            if isJSON {
                guard let json = try? JSON(parsing: text) else { throw .usage("\(name):=… is not JSON") }
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
        // The agent reports other mistakes, so do not ask for a secret first.
        guard let info, isComplete(values, for: info) else { return (values, long) }
        for argument in info.args where argument.secret && !argument.optional && values[argument.name] == nil {
            values[argument.name] = try ask(argument, options).map(JSON.string)
        }
        return (values, long)
    }

    /// Whether only secrets are missing, and no argument is unknown.
    private func isComplete(_ values: JSONObject, for info: EndpointInfo) -> Bool {
        info.args.allSatisfy { $0.secret || $0.optional || values[$0.name] != nil }
            && values.allSatisfy { member in info.args.contains { $0.name == member.key } }
    }

    /// The fields of a change at the provider: `NAME=TEXT`, `NAME=@FILE` for the text of a file, or `NAME:=JSON`.
    func fields() throws(Failure) -> JSONObject {
        var values = JSONObject()
        for (name, typed, isJSON) in typed {
            let text = try typed.hasPrefix("@") ? fileText(name, typed) : typed
            guard isJSON else {
                values[name] = .string(text)
                continue
            }
            guard let json = try? JSON(parsing: text) else { throw .usage("\(name):=… is not JSON") }
            values[name] = json
        }
        return values
    }

    /// Reads a file without the line feed that `echo` and editors add.
    private func fileText(_ name: String, _ typed: String) throws(Failure) -> String {
        do throws(Failure) {
            var text = try FileText.read(String(typed.dropFirst()), atMost: RequestBody.longest)
            if text.utf8.last == UInt8(ascii: "\n") { text.removeLast() }
            return text
        } catch {
            throw .usage(error.message, hint: "to send a text that begins with @, write it as JSON: \(name):='\"@…\"'")
        }
    }

    private func content(_ name: String, _ text: String) throws(Failure) -> BodyFile.Content {
        guard text.hasPrefix("@") else { throw .usage("\(name) is a file: write \(name)=@FILE") }
        return try BodyFile.open(String(text.dropFirst()), wholeUpTo: RequestBody.longest)
    }

    /// `nil` without a terminal: the agent reports what is missing.
    private func ask(_ argument: ArgumentInfo, _ options: Options) throws(Failure) -> String? {
        guard options.canPrompt else { return nil }
        let question = Visible.line(argument.about ?? argument.name) + ": "
        guard let line = try TerminalInput.ask(question, isSecret: true) else {
            throw .cancelled("the call was cancelled")
        }
        return line
    }
}
