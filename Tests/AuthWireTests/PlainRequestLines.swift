/// Lines that are almost in the usual form of a request, whose params may name a session.
enum PlainRequestLines {
    /// Lines with the method that are not in the usual form: each is left to the full reader.
    static func others(method: String) -> [String] {
        [
            "", "{", #"{"jsonrpc":"2.0","id":"#, #"{"jsonrpc":"2.0","id":1,"method":"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD""#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{}"#,
            #"{"jsonrpc":"2.0","method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":,"method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":01,"method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":-1,"method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1.5,"method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":"1","method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1000000000000000000,"method":"METHOD","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{}} "#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{}}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{},"id":2}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":""}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":"A"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":"\u0061"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":"a","x":1}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":"a","scopes":["x"]}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"session":"a"#,
        ].map { $0.replacing("METHOD", with: method) }
    }

    /// Calls `body` with each form in turn, in which up to two bytes are replaced, inserted or removed.
    static func mutate(_ forms: [String], rounds: Int, seed: UInt64, _ body: ([UInt8]) throws -> Void) rethrows {
        let forms = forms.map { Array($0.utf8) }
        let bytes = Array("{}[]\",:.019azAZ_- \\\n\u{0}\u{E9}".utf8)
        var random = SplitMix(seed: seed)
        for round in 0..<rounds {
            var line = forms[round % forms.count]
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<line.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: line[place] = bytes.randomElement(using: &random) ?? 0
                case 1: line.insert(bytes.randomElement(using: &random) ?? 0, at: place)
                default: line.remove(at: place)
                }
            }
            try body(line)
        }
    }
}
