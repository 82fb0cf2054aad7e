import AuthModel
import AuthWire
import Testing

@Suite("Names of listeners, and their tables")
struct ListenerNameTests {
    @Test("a name is short, of lower-case letters, digits and dashes, and begins with a letter")
    func names() {
        let longest = String(repeating: "a", count: ListenerName.longest)
        for name in ["a", "box", "box-2", longest] {
            #expect(ListenerName(rawValue: name)?.rawValue == name)
            #expect(ListenerName(descriptor: name)?.rawValue == name && ListenerName(table: name)?.rawValue == name)
        }
        let hostile = [
            "", longest + "a", "Box", "2box", "-box", "box.socket", "box/../api", "box_1", "box 1", "box:1", "b\u{0}x",
            "b\nx", "b\u{1B}[2Jx", "böx", "bо\u{445}", "a\u{301}", "*", "box]", "unknown", "stored", "connection",
            "limited",
        ]
        for name in hostile {
            #expect(ListenerName(rawValue: name) == nil, "\(name.debugDescription)")
            #expect(ListenerName(descriptor: name) == nil && ListenerName(table: name) == nil)
        }
    }

    @Test("a descriptor cannot be the session bus, and a table cannot be about the main socket or the bus")
    func builtIn() {
        #expect(ListenerName(descriptor: "api") == .api && ListenerName(descriptor: "authd.socket") == .api)
        #expect(ListenerName(descriptor: "extra") == .extra && ListenerName(descriptor: "authd-extra.socket") == .extra)
        #expect(ListenerName(descriptor: "dbus") == nil)
        #expect(ListenerName(table: "api") == nil && ListenerName(table: "dbus") == nil)
        #expect(ListenerName(table: "extra") == .extra)
    }

    @Test("each socket has its own table, and [listener.extra] is for sandboxes at the main socket and on the bus")
    func tables() throws {
        let (box, tool) = (try #require(ListenerName(rawValue: "box")), try #require(ListenerName(rawValue: "tool")))
        var (wide, narrow) = (ListenerRules(), ListenerRules())
        (wide.classes, narrow.classes) = ([.status, .act], [.status])
        var tables = ListenerTables(extra: wide)
        tables[box] = narrow
        #expect(tables[.api] == wide && tables[.dbus] == wide && tables[.extra] == wide)
        #expect(tables[box] == narrow && tables[tool] == ListenerRules())
        #expect(tables.names == [box, .extra])
        var others = tables
        others[tool] = ListenerRules()
        #expect(others == tables && others.differences(from: tables).isEmpty)
        others[tool] = wide
        others[box] = ListenerRules()
        #expect(others.differences(from: tables) == [box, tool])
        #expect(tables.differences(from: others) == [box, tool])
    }

    @Test("a refusal names the table that does not allow the request")
    func refusal() throws {
        let box = try #require(ListenerName(rawValue: "box"))
        for (listener, table) in [(box, "box"), (.extra, "extra"), (.api, "extra"), (.dbus, "extra")] {
            let request = ConfinedRequest(method: TokenGet.name, access: TokenGet.access, at: listener)
            let refusal = try #require(request.refusal(by: ListenerRules()))
            #expect(refusal.message == "[listener.\(table)] in authd.toml does not allow token.get.")
        }
    }
}
