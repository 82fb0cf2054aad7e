/// A command's instance, and its properties as reflection finds them.
struct DeclaredCommand {
    private enum Member {
        case property(any SettableProperty)
        /// After the properties of a group.
        case endOfGroup(any ParsableArguments)
    }

    let command: any ParsableCommand
    private(set) var arguments: [ArgumentDescription] = []
    private var members: [Member] = []
    private var count = 0

    init(_ type: any ParsableCommand.Type) {
        command = type.init()
        add(command, isHidden: false)
    }

    private mutating func add(_ value: any ParsableArguments, isHidden: Bool) {
        for child in Mirror(reflecting: value).children {
            switch (child.value as? any ArgumentWrapper)?.declared {
            case .property(let property)?:
                // The stored property of a wrapper begins with an underscore.
                let name = String((child.label ?? "").drop { $0 == "_" })
                for var argument in property.descriptions(of: name, number: count) {
                    if isHidden { argument.isHidden = true }
                    arguments.append(argument)
                }
                members.append(.property(property))
                count += 1
            case .group(let group, let isGroupHidden)?:
                add(group, isHidden: isHidden || isGroupHidden)
                members.append(.endOfGroup(group))
            case nil: continue
            }
        }
    }

    /// Sets the properties, and has each group check its values.
    func set(_ values: ParsedValues) throws(UsageError) {
        var number = 0
        for member in members {
            switch member {
            case .property(let property):
                guard property.set(values[number]) else {
                    throw .missingArgument(ShownArgument(arguments.first { $0.number == number }))
                }
                number += 1
            case .endOfGroup(let group): try Self.validate(group)
            }
        }
    }

    func validate() throws(UsageError) { try Self.validate(command) }

    private static func validate(_ arguments: any ParsableArguments) throws(UsageError) {
        do throws(ValidationError) { try arguments.validate() } catch { throw .refused(error.message) }
    }
}
