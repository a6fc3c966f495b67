import CLinux
import Glibc
import Platform
import Reactor

/// The pipes for the standard streams of a program that is about to start.
package struct StandardPipes {
    struct Pipe {
        var parent, child: Int32
    }

    /// `nil`: `/dev/null`, or the socket that is also `output`.
    var input: Pipe?
    /// True if `output` is a socket that is the standard input, too.
    var isOutputInput = false
    var output, error: Pipe

    init(hasInput: Bool) throws(ProcessJob.StartFailure) {
        var made: [Pipe] = []
        for isInput in hasInput ? [false, false, true] : [false, false] {
            var ends: [Int32] = [-1, -1]
            guard linux_pipe(&ends) == 0 else {
                let reason = systemMessage(errno)
                for pipe in made { Self.close(pipe) }
                throw ProcessJob.StartFailure(sentence: "its pipes cannot be created: \(reason)")
            }
            let pipe = isInput ? Pipe(parent: ends[1], child: ends[0]) : Pipe(parent: ends[0], child: ends[1])
            made.append(pipe)
        }
        (output, error) = (made[0], made[1])
        input = hasInput ? made[2] : nil
    }

    /// Creates a Unix socket that is both standard input and standard output of the program, and a pipe for its errors.
    static func withSocket() throws(ProcessJob.StartFailure) -> StandardPipes {
        var pipes = try StandardPipes(hasInput: false)
        close(pipes.output)
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            let reason = systemMessage(errno)
            close(pipes.error)
            throw ProcessJob.StartFailure(sentence: "its socket cannot be created: \(reason)")
        }
        pipes.output = Pipe(parent: ends[0], child: ends[1])
        pipes.isOutputInput = true
        return pipes
    }

    /// Closes the child's ends, and makes the parent's ends non-blocking, which the start of the program need not wait for.
    func programHasStarted() {
        for case let pipe? in [input, output, error] {
            Glibc.close(pipe.child)
            linux_set_blocking(pipe.parent, 0)
        }
    }

    func closeAll() {
        for pipe in [input, output, error] { if let pipe { Self.close(pipe) } }
    }

    private static func close(_ pipe: Pipe) {
        Glibc.close(pipe.parent)
        Glibc.close(pipe.child)
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
