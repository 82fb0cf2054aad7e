package import AuthModel
package import AuthWire

/// What the child is asked.
package struct ProfileQuestion: Sendable, WireObject {
    package var text = ""
    /// The file name in the problems found.
    package var file: String?
    /// The base URL of a server, if the requests to try there are wanted.
    package var url: String?

    package init(blank: Blank) {}
    package init(text: String, file: String?, url: String? = nil) {
        self.text = text
        self.file = file
        self.url = url
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("text", &text, .string)
        try visitor.optional("file", &file, .string)
        try visitor.optional("url", &url, .string)
    }
}

/// What the child has read.
package struct ProfileReading: Sendable, WireObject {
    package var check = ProviderCheck(problems: [])
    package var trials: [ProfileTrial] = []

    package init(blank: Blank) {}
    package init(check: ProviderCheck, trials: [ProfileTrial] = []) {
        self.check = check
        self.trials = trials
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("check", &check, .object)
        try visitor.written("trials", &trials, .list())
    }
}
