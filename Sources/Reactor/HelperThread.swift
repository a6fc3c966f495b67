import CLinux
import Glibc

/// A detached thread that executes one closure.
package final class HelperThread: Sendable {
    /// In octets. The deepest recursion is the compilation of the deepest expression that a rule may have: 650 KiB in a
    /// debug build.
    private static let stackSize = 1024 * 1024

    let body: @Sendable () -> Void

    package init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// - Returns: whether the thread could be created.
    package func start() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self)
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<HelperThread>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, argument.toOpaque())
        if failure != 0 { argument.release() }
        return failure == 0
    }
}
