import Synchronization

/// The descriptors that an option or argument has read to the end. A second option would read nothing, or what the user
/// types next.
enum ReadInputs {
    private static let names = Mutex<[Int32: String]>([:])

    /// - Parameter name: the option or argument that reads the descriptor.
    static func claim(_ descriptor: Int32, for name: String) throws(Failure) {
        let former = names.withLock { names in
            defer { if names[descriptor] == nil { names[descriptor] = name } }
            return names[descriptor]
        }
        guard let former else { return }
        throw .usage(
            "\(former) and \(name) both read descriptor \(descriptor)",
            hint: "use a separate one for each, such as 3<FILE")
    }
}
