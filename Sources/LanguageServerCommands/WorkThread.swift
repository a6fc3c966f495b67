import CommandSupport
import Glibc
import Platform
import Reactor
import Synchronization

/// Carries out work of a language server on threads of its own, one piece at a time, so that completions are answered
/// meanwhile.
final class WorkThread<Value: Sendable>: Sendable {
    private let result = Mutex<Value?>(nil)
    /// The descriptor that becomes readable when a piece of work has ended.
    let finished: Int32
    /// The other end of `finished`. Both are open until the process ends.
    private let signal: Int32

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.unavailable, "A pipe cannot be made: \(systemMessage(errno)).")
        }
        (finished, signal) = (ends[0], ends[1])
    }

    /// - Returns: false if no thread can be created.
    func start(_ work: @escaping @Sendable () -> Value) -> Bool {
        HelperThread { [self] in
            let value = work()
            result.withLock { $0 = value }
            _ = write(signal, [1], 1)
        }.start()
    }

    /// The result of the work that has ended.
    func take() -> Value? {
        var octet: UInt8 = 0
        _ = read(finished, &octet, 1)
        return result.withLock { result in
            defer { result = nil }
            return result
        }
    }
}
