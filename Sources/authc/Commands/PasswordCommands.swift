import ArgumentParser

struct Password: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set, change or reset an account's password.",
        subcommands: [SetFirst.self, Change.self, RequestReset.self, Reset.self])

    struct SetFirst: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set the first password of a session's account.")

        @OptionGroup var common: CommonOptions
        @OptionGroup var fields: FieldOptions

        func run() throws {
            try common.run { options throws(Failure) in
                try SignIn.run(.password(.set, provider: nil, environment: nil), fields.given(options), options)
            }
        }
    }

    struct Change: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change the password of a session's account.")

        @OptionGroup var common: CommonOptions
        @OptionGroup var fields: FieldOptions

        func run() throws {
            try common.run { options throws(Failure) in
                try SignIn.run(.password(.change, provider: nil, environment: nil), fields.given(options), options)
            }
        }
    }

    struct RequestReset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "request-reset", abstract: "Have a provider send what a reset needs, and leave it at that.")

        @OptionGroup var common: CommonOptions
        @OptionGroup var place: PasswordPlace
        @OptionGroup var fields: FieldOptions

        func run() throws {
            try common.run { options throws(Failure) in
                try SignIn.run(place.goal(.requestReset), fields.given(options), options)
            }
        }
    }

    struct Reset: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reset a forgotten password, and sign in.",
            discussion: "Has the code sent, unless it is given already.")

        @OptionGroup var common: CommonOptions
        @OptionGroup var place: PasswordPlace
        @OptionGroup var fields: FieldOptions

        @Flag(help: "Give the session to another account if it has one; without this you are asked.")
        var replaceAccount = false

        func run() throws {
            try common.run { options throws(Failure) in
                try SignIn.run(
                    place.goal(.reset), fields.given(options), options, replacesAccount: replaceAccount)
            }
        }
    }
}

/// Where a password is forgotten.
struct PasswordPlace: ParsableArguments {
    @Argument(
        help: "The provider; `authc provider list` shows all.",
        completion: .custom { _, _, _ in KnownNames.providers() })
    var provider: String

    @Option(help: "One of the provider's environments.")
    var environment: String?

    func goal(_ verb: SignInRequestOptions.PasswordVerb) -> SignInRequestOptions {
        .password(verb, provider: provider, environment: environment)
    }
}
