import Glibc

/// getenv(3). A program must not change its environment in another thread while it creates a client.
package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
