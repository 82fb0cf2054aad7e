import CSecret

/// Holds one reference to a GObject.
// @unchecked Sendable: reference counts of GObject are atomic, and the object is used on its GLib thread only.
package final class GObjectReference: @unchecked Sendable {
    private let object: UnsafeMutableRawPointer

    /// Owns the reference.
    package init(taking object: UnsafeMutableRawPointer) {
        self.object = object
    }

    deinit {
        g_object_unref(object)
    }

    package var raw: UnsafeMutableRawPointer { object }

    package var opaque: OpaquePointer { OpaquePointer(object) }
}
