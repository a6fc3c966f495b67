import ArgumentParser
import CommandSupport
import Edges
import Glibc
import Platform
import Reactor

struct HCICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hci",
        abstract: "Lend an adapter of this machine to a Tryck elsewhere.",
        discussion: """
            Opens the adapter exclusively, and passes HCI packets in H4 framing between it and standard input and output, \
            until the input ends. Opening an adapter needs the capability CAP_NET_ADMIN. A daemon on another machine starts \
            this command, through ssh for example; the second line is for its tryck.yaml. "user" stands for an account of \
            this machine that may log in.

              tryck hci 0
              bluetooth: {transport: {command: [ssh, -T, user@shed, tryck, hci, "0"]}}
            """)

    @Argument(help: ArgumentHelp("The number of the adapter: 0 for hci0.", valueName: "number"))
    var index: UInt16

    func run() throws {
        guard [STDIN_FILENO, STDOUT_FILENO].allSatisfy(Self.isPipeOrSocket) else {
            throw Failure(
                .usage,
                """
                Standard input and output carry binary data, and must be pipes or a socket. See tryck hci --help for how a \
                daemon starts this command.
                """)
        }
        let index = index
        try Conversation<Void>.run { conversation in
            let lending = AdapterLending(conversation, index: index)
            conversation.onInterrupt { lending.end() }
            lending.start()
        }
    }
}

extension HCICommand {
    /// The event loop cannot watch a file, and a descriptor that is closed may be another one soon.
    private static func isPipeOrSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}

/// Passes packets between an adapter and standard input and output.
@ReactorActor
private final class AdapterLending {
    private let conversation: Conversation<Void>
    private let adapter: HCISocketTransport
    private var input: StreamConnection?
    private var output: StreamConnection?
    private var framer = H4Framer()

    init(_ conversation: Conversation<Void>, index: UInt16) {
        self.conversation = conversation
        adapter = HCISocketTransport(loop: .shared, index: index)
    }

    func start() {
        // The closure keeps this object alive until the adapter is closed.
        adapter.open { event in
            switch event {
            case .opened: self.opened()
            case .received(let packet): self.output?.send(packet)
            case .failed(let failure): self.fail(.unavailable, "\(failure).")
            }
        }
    }

    private func opened() {
        // Both may be the same socket, so only the first is read.
        let input = StreamConnection(.shared, duplicate(STDIN_FILENO), isRadio: true) { event in
            switch event {
            case .received(let octets): self.received(octets)
            case .finished, .ended: self.end()
            case .blocked, .drained: break
            }
        }
        self.input = input
        let output = StreamConnection(.shared, duplicate(STDOUT_FILENO)) { event in
            switch event {
            case .ended(.stalled): self.fail(.inputOutput, "The other end reads nothing. See its log.")
            case .ended, .finished: self.end()
            case .received, .blocked, .drained: break
            }
        }
        output.setPaused(true)
        self.output = output
    }

    /// A connection closes its descriptor, which must not be that of a standard stream.
    private func duplicate(_ stream: Int32) -> Int32 {
        let descriptor = fcntl(stream, F_DUPFD_CLOEXEC, 3)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    private func received(_ octets: [UInt8]) {
        framer.append(octets)
        do throws(H4Malformed) {
            while input != nil, let packet = try framer.next() { adapter.send(packet) }
        } catch {
            fail(.inputOutput, "Standard input is not HCI in H4 framing: \(error).")
        }
    }

    /// The other end has gone, or a signal ends the command.
    func end() { finish(.success(())) }

    private func fail(_ status: ExitStatus, _ sentence: String) { finish(.failure(Failure(status, sentence))) }

    private func finish(_ result: Result<Void, Failure>) {
        input?.close()
        input = nil
        output?.close()
        output = nil
        // The adapter must not be closed inside the call that reports its event.
        let (adapter, conversation) = (adapter, conversation)
        EventLoop.shared.onNextTurn {
            adapter.close()
            conversation.end(result)
        }
    }
}
