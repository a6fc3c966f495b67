import CLinux
import Glibc
import Platform
import Reactor

/// The standard streams of a program that is about to start.
///
/// They do not depend on the program, so `ProcessEdge` makes those of the next program before it is started: to make pipes takes
/// the kernel longer than the hub needs to decide about a press.
package final class StandardStreams {
    /// Our end of the standard input; `nil` if that is `/dev/null`, or the socket that is also `output`.
    let input: Int32?
    /// Our ends of the outputs.
    let output, error: Int32
    let files: ProgramFiles
    /// The program's ends, which are its descriptors 0 to 2.
    private let ends: [Int32]
    private var hasStarted = false

    /// - Parameter hasInput: false: the standard input is `/dev/null`.
    convenience init(hasInput: Bool) throws(ProcessJob.StartFailure) {
        let made = try Self.open([hasInput ? .pipe : .null, .pipe, .pipe])
        self.init(
            input: hasInput ? made[0][1] : nil, output: made[1][0], error: made[2][0],
            ends: [made[0][0], made[1][1], made[2][1]])
    }

    /// Creates a Unix socket that is both standard input and standard output of the program, and a pipe for its errors.
    static func withSocket() throws(ProcessJob.StartFailure) -> StandardStreams {
        let made = try open([.socket, .pipe])
        return StandardStreams(
            input: nil, output: made[0][0], error: made[1][0], ends: [made[0][1], made[0][1], made[1][1]])
    }

    private init(input: Int32?, output: Int32, error: Int32, ends: [Int32]) {
        (self.input, self.output, self.error, self.ends) = (input, output, error, ends)
        files = ProgramFiles { actions in
            for (descriptor, end) in ends.enumerated() {
                posix_spawn_file_actions_adddup2(actions, end, Int32(descriptor))
            }
        }
    }

    /// Closes the program's ends, and makes our ends non-blocking, which the start of the program need not wait for. From now on
    /// the caller owns our ends.
    func programHasStarted() {
        hasStarted = true
        for end in Set(ends) { close(end) }
        for descriptor in [input, output, error] { if let descriptor { linux_set_blocking(descriptor, 0) } }
    }

    deinit {
        guard !hasStarted else { return }
        for descriptor in Set(ends + [output, error]) { close(descriptor) }
        if let input { close(input) }
    }

    // MARK: Descriptors

    private enum Kind {
        case null, pipe, socket

        func open() -> [Int32]? {
            var ends: [Int32] = [-1, -1]
            switch self {
            case .null:
                ends = [Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)]
                return ends[0] < 0 ? nil : ends
            case .pipe: return linux_pipe(&ends) == 0 ? ends : nil
            case .socket:
                let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                return socketpair(AF_UNIX, type, 0, &ends) == 0 ? ends : nil
            }
        }
    }

    /// Opens all of them, or none.
    private static func open(_ kinds: [Kind]) throws(ProcessJob.StartFailure) -> [[Int32]] {
        var made: [[Int32]] = []
        for kind in kinds {
            guard let ends = kind.open() else {
                let reason = systemMessage(errno)
                for descriptor in made.joined() { close(descriptor) }
                throw ProcessJob.StartFailure(sentence: "its pipes cannot be created: \(reason)")
            }
            made.append(ends)
        }
        return made
    }
}

/// Writes the standard input of a program, as fast as it reads.
@ReactorActor
final class InputPipe {
    private let descriptor: Int32
    private var remaining: ArraySlice<UInt8>
    private var watch: Watch?

    init(_ loop: EventLoop, _ descriptor: Int32, _ octets: [UInt8]) {
        self.descriptor = descriptor
        remaining = octets[...]
        watch = loop.watch(descriptor, .write) { [unowned self] _ in write() }
    }

    private func write() {
        let count = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            remaining = remaining.dropFirst(count)
            if remaining.isEmpty { close() }
        } else if errno != EAGAIN, errno != EINTR {
            // EPIPE: the program has closed its input.
            close()
        }
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        remaining = []
        Glibc.close(descriptor)
    }
}

/// Reads an output stream of a program to its end, and keeps the first `ProcessEdge.maximumOutput` octets.
@ReactorActor
final class OutputPipe {
    /// The default capacity of a pipe (pipe(7)).
    private static let readSize = 64 * 1024

    private let descriptor: Int32
    private let ended: @ReactorActor () -> Void
    private(set) var kept: [UInt8] = []
    private var watch: Watch?

    var isClosed: Bool { watch == nil }

    init(_ loop: EventLoop, _ descriptor: Int32, ended: @escaping @ReactorActor () -> Void) {
        self.descriptor = descriptor
        self.ended = ended
        watch = loop.watch(descriptor, .read) { [unowned self] _ in read() }
    }

    private func read() {
        let wanted = ProcessEdge.maximumOutput - kept.count
        let count = withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { kept.append(contentsOf: buffer.prefix(min(count, wanted))) }
            return count
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) {
            close()
            ended()
        }
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }
}
