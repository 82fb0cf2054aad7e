package import AuthModel
internal import Synchronization

/// The profiles as last loaded; a reload replaces them all at once.
package final class CurrentCatalog: Sendable {
    private let current: Mutex<ProfileCatalog>

    package init(_ catalog: ProfileCatalog) {
        current = Mutex(catalog)
    }

    package var profiles: ProfileCatalog {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
