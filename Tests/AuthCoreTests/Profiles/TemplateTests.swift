import AuthCore
import AuthWire
import Testing

@Suite("Templates")
struct TemplateTests {
    private let values = TemplateValues(
        environment: "production", fields: ["name": Secret("Ada"), "code": Secret("007"), "empty": Secret("")])

    @Test("places are filled in, and doubled braces are the braces themselves")
    func filling() throws {
        let template = try Template(parsing: "{{{name}}}-{code}@{environment}")
        #expect(template.fill(values) == "{Ada}-007@production")
        #expect(template.placeholders == ["name", "code", "environment"])
    }

    @Test("a text without places is itself")
    func literal() throws {
        #expect(try Template(parsing: "").fill(values)?.isEmpty == true)
        #expect(try Template(parsing: "über").fill(values) == "über")
    }

    @Test("a place without a value, or with an empty one, leaves nothing to send")
    func missing() throws {
        #expect(try Template(parsing: "x{unknown}").fill(values) == nil)
        #expect(try Template(parsing: "x{empty}").fill(values) == nil)
    }

    @Test("a value is never read as a template")
    func noSecondReading() throws {
        let sly = TemplateValues(environment: "e", fields: ["name": Secret("{code}"), "code": Secret("007")])
        #expect(try Template(parsing: "{name}").fill(sly) == "{code}")
    }

    @Test(
        "a brace without its partner, and what is no name, are told",
        arguments: [
            "{", "}", "{name", "a}b", "{}", "{1}", "{a b}", "{a.b.c}", "{a.}", "{.a}", "{{a}", "{a}}", "{../x}",
        ])
    func broken(_ text: String) {
        #expect(throws: TemplateError.self) { try Template(parsing: text) }
    }
}
