import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("Templates")
struct TemplateTests {
    private let values: TemplateValues

    init() throws {
        values = try Self.values(["name": "Ada", "code": "007", "empty": ""])
    }

    private static func values(_ answers: [String: String]) throws -> TemplateValues {
        let method = SignInMethod(
            name: "m", label: "M", fields: answers.keys.map { StepField(name: $0, label: $0) },
            request: RequestTemplate(method: "POST", path: try Template(parsing: "/")))
        return TemplateValues(environment: "production", fields: answers.mapValues { Secret($0) }, method: method)
    }

    @Test("placeholders are filled in, and doubled braces are literal braces")
    func filling() throws {
        let template = try Template(parsing: "{{{name}}}-{code}@{environment}")
        #expect(template.fill(values) == "{Ada}-007@production")
        #expect(template.placeholders == ["name", "code", "environment"])
    }

    @Test("a text without placeholders stays unchanged")
    func literal() throws {
        #expect(try Template(parsing: "").fill(values)?.isEmpty == true)
        #expect(try Template(parsing: "über").fill(values) == "über")
    }

    @Test("a placeholder without a value, or with an empty one, gives no text")
    func missing() throws {
        #expect(try Template(parsing: "x{unknown}").fill(values) == nil)
        #expect(try Template(parsing: "x{empty}").fill(values) == nil)
    }

    @Test(
        "filters change a value, from left to right",
        arguments: [
            ("{v:base64}", "QWRhICYgWm/DqyE="), ("{v:url}", "Ada%20%26%20Zo%C3%AB%21"), ("{v:lower}", "ada & zoë!"),
            ("{v:sha256hex}", "2b5bc40cb7f3509e0d5bffb267a843ad9a5dc9fa38b85604da7c8a8238e7a28d"),
            ("{v:lower:base64}", "YWRhICYgem/DqyE="), ("{v:base64:lower}", "qwrhicygwm/dqye="),
            ("<{v:base64:url}>", "<QWRhICYgWm%2FDqyE%3D>"), ("{v}{v:lower}", "Ada & Zoë!ada & zoë!"),
        ])
    func filters(_ text: String, _ expected: String) throws {
        let template = try Template(parsing: text)
        #expect(template.fill(try Self.values(["v": "Ada & Zoë!"])) == expected)
        #expect(template.text == text && Set(template.placeholders) == ["v"] && template.solePlaceholder == nil)
    }

    @Test("a filter makes no value of a missing one")
    func filteredNothing() throws {
        #expect(try Template(parsing: "{unknown:sha256hex}").fill(values) == nil)
        #expect(try Template(parsing: "{empty:base64}").fill(values) == nil)
    }

    @Test(
        "an unknown filter is an error with a suggestion",
        arguments: [
            ("{a:bas64}", "base64 (is that meant?)"), ("{a:url:lowr}", "lower (is that meant?)"),
            ("{a:}", "one of base64, lower"), ("{a:md5sum}", "one of base64, lower"), ("{a: base64}", "base64"),
        ])
    func unknownFilter(_ text: String, _ expected: String) {
        let error = #expect(throws: TemplateError.self) { try Template(parsing: text) }
        #expect(error?.expected.hasPrefix(expected) == true, "\(error?.expected ?? "")")
    }

    @Test("a value is never parsed as a template")
    func noSecondReading() throws {
        let sly = try Self.values(["name": "{code}", "code": "007"])
        #expect(try Template(parsing: "{name}").fill(sly) == "{code}")
    }

    @Test("an ID token provides its claims, and a missing claim has no value")
    func claims() throws {
        let token = Secret(Sample.jwt(#"{"sub":"g-7","email":"ada@example.org","exp":1900000000}"#))
        let method = SignInMethod(
            name: "google", label: "Google",
            fields: [StepField(name: "idToken", label: "ID token", secret: true, kind: "id-token")],
            request: RequestTemplate(method: "POST", path: try Template(parsing: "/")))
        let values = TemplateValues(environment: "e", fields: ["idToken": token], method: method)
        #expect(try Template(parsing: "{idToken.sub} {idToken.email}").fill(values) == "g-7 ada@example.org")
        #expect(try Template(parsing: "{idToken.name}").fill(values) == nil)
    }

    @Test(
        "an unmatched brace or an invalid name is an error",
        arguments: [
            "{", "}", "{name", "a}b", "{}", "{1}", "{a b}", "{a.b.c}", "{a.}", "{.a}", "{{a}", "{a}}", "{../x}",
        ])
    func broken(_ text: String) {
        #expect(throws: TemplateError.self) { try Template(parsing: text) }
    }
}
