import CommandSupport
import Glibc
import LanguageServer
import Platform
import Reactor
import Synchronization

/// Carries out the checks of a language server on threads of their own, one at a time, so that completions are answered
/// meanwhile.
final class CheckThread: Sendable {
    private let files: DiskFiles
    private let result = Mutex<SetCheck?>(nil)
    /// The descriptor that becomes readable when a check has ended.
    let finished: Int32
    /// The other end of `finished`. Both are open until the process ends.
    private let signal: Int32

    init(_ files: DiskFiles) throws(Failure) {
        self.files = files
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.unavailable, "A pipe cannot be made: \(systemMessage(errno)).")
        }
        (finished, signal) = (ends[0], ends[1])
    }

    /// - Returns: false if no thread can be created.
    func start(_ check: SetCheck) -> Bool {
        HelperThread { [self] in
            let checked = check.run(answering: files.answer)
            result.withLock { $0 = checked }
            _ = write(signal, [1], 1)
        }.start()
    }

    /// The result of the check that has ended.
    func take() -> SetCheck? {
        var octet: UInt8 = 0
        _ = read(finished, &octet, 1)
        return result.withLock { result in
            defer { result = nil }
            return result
        }
    }
}
