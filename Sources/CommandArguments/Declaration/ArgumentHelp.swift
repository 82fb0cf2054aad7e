/// What help says about an option, a flag or an argument.
package struct ArgumentHelp: ExpressibleByStringInterpolation, Sendable {
    let abstract: String
    /// What a synopsis shows between angle brackets. `nil` stands for the argument's own name.
    let valueName: String?
    /// Help and completion scripts do not show it.
    let isHidden: Bool

    package static let hidden = ArgumentHelp("", valueName: nil, isHidden: true)

    package init(_ abstract: String, valueName: String? = nil) {
        self.init(abstract, valueName: valueName, isHidden: false)
    }

    package init(stringLiteral abstract: String) { self.init(abstract) }

    private init(_ abstract: String, valueName: String?, isHidden: Bool) {
        (self.abstract, self.valueName, self.isHidden) = (abstract, valueName, isHidden)
    }
}
