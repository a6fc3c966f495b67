import ButtonModel
import Bytes
import CommandSupport
import Edges
import Glibc
import JSON
import Platform
import Reactor
import Simulator
import TrialEdges

/// Gives lines of standard input to the simulated buttons, and prints what they report.
@ReactorActor
final class SimulateSession {
    /// Octets. A longer line of standard input ends the program.
    private static let maximumLineLength = 4096
    /// In nanoseconds. It is longer than any swipe or turn together with the message about it.
    private static let movementTime: Int64 = 2_000_000_000

    private let conversation: Conversation<Void>
    private let isJSON: Bool
    private let output = Output.standardOutput
    /// The buttons with `--attach`.
    private var buttons: [AttachedButton] = []
    /// The controller with the buttons, and its socket, with `--listen`.
    private var air: (controller: SimulatorEdge, server: H4Server)?
    private var input = LineFramer(maximumLength: maximumLineLength)
    private var inputWatch: Watch?
    private var hasInputEnded = false
    private var pendingPresses = 0
    /// When all swipes and turns are over. The buttons do not report that.
    private var movesUntil: Int64 = 0
    private var movementTimer: Timer?

    private var models: [(name: String, model: FlicModel)] = []

    init(_ conversation: Conversation<Void>, isJSON: Bool) {
        self.conversation = conversation
        self.isJSON = isJSON
    }

    func start(_ descriptions: [SimulatedButtonDescription]) {
        let loop = EventLoop.shared
        // The loop keeps this object alive through the handler.
        conversation.onInterrupt { self.end(nil) }
        show(SimulateText.trustRoot(SimulatorRoot.publicKey.hex))
        models = descriptions.map { ($0.name, $0.model) }
        if isatty(STDIN_FILENO) == 1, !isJSON { output.write(SimulateText.help(buttons: models.map(\.name))) }
        movementTimer = loop.timer { [unowned self] in endIfDone() }
        inputWatch = loop.watch(STDIN_FILENO, .read) { [unowned self] _ in read() }
    }

    func attach(_ descriptions: [SimulatedButtonDescription], to endpoint: H4StreamTransport.Endpoint) {
        buttons = descriptions.map { description in
            AttachedButton(.shared, description, at: endpoint, seed: 0) { [unowned self] event in
                happened(event, on: description.name)
            }
        }
    }

    /// Serves a controller with the buttons. A host that connects resets it first, as it does a real one.
    func serve(_ descriptions: [SimulatedButtonDescription], at path: String) {
        let controller = SimulatorEdge(
            loop: .shared, buttons: descriptions, seed: SystemEnvironment.randomSeed
        ) { [unowned self] in show(SimulateText.note($0, $1)) }
        guard let server = H4Server(loop: .shared, path: path, { controller.send($0) }) else {
            let reason =
                switch errno {
                case EADDRINUSE: "another program listens on it"
                case ENOTSOCK: "it is a file of another kind"
                case let error: systemMessage(error)
                }
            return end(
                Failure(.unavailable, "\(path) cannot be listened on: \(reason). Name another path."))
        }
        controller.open { if case .received(let packet) = $0 { server.send(packet) } }
        air = (controller, server)
        show(SimulateText.listening(path))
    }

    private func happened(_ event: AttachedButton.Event, on name: String) {
        switch event {
        case .onAir(let address):
            show(SimulateText.attached(name, address: address.description))
        case .note(let note): show(SimulateText.note(name, note))
        case .pressFinished(let press):
            pendingPresses = max(0, pendingPresses - 1)
            show(SimulateText.pressed(name, press.rawValue))
            endIfDone()
        case .failed(let sentence):
            end(Failure(.unavailable, "\(name): \(sentence)"))
        }
    }

    // MARK: Standard input

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
        if count > 0 {
            take(Array(chunk.prefix(count)))
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            inputWatch?.cancel()
            // Only the end of a pipe or a terminal ends the program. Services have `/dev/null` and are to go on.
            hasInputEnded = canEndByInput
            endIfDone()
        }
    }

    private var canEndByInput: Bool {
        // The buttons are there for the daemon that is connected, which may be connected for long.
        guard air == nil else { return false }
        var status = stat()
        let isPipe = fstat(STDIN_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
        return isPipe || isatty(STDIN_FILENO) == 1
    }

    private func take(_ octets: [UInt8]) {
        input.append(octets)
        do throws(LineTooLong) {
            while let line = try input.next() { obey(String(decoding: line, as: UTF8.self)) }
        } catch {
            end(Failure(.usage, "A line is longer than \(Self.maximumLineLength) octets. Write: NAME PRESS"))
        }
    }

    private func obey(_ line: String) {
        switch SimulateInput(parsing: line, buttons: models) {
        case .act(let name, let action):
            if case .press = action {
                pendingPresses += 1
            } else {
                movesUntil = EventLoop.shared.nanosecondsSinceBoot + Self.movementTime
            }
            buttons.first { $0.name == name }?.act(action)
            air?.controller.act(action, on: name)
        case .help: output.write(SimulateText.help(buttons: models.map(\.name)))
        case .mistake(let sentence): Output.standardError.write(Line(sentence, .bad))
        case nil: break
        }
    }

    // MARK: End

    private func endIfDone() {
        guard hasInputEnded, pendingPresses <= 0 else { return }
        guard EventLoop.shared.nanosecondsSinceBoot < movesUntil else { return end(nil) }
        movementTimer?.set(at: movesUntil)
    }

    private func end(_ failure: Failure?) {
        for button in buttons { button.close() }
        air?.server.close()
        conversation.end(failure.map { .failure($0) } ?? .success(()))
    }

    private func show(_ line: JSONValue) {
        if isJSON {
            output.write(line: line.description)
        } else {
            output.write(SimulateText.lines(line))
        }
    }
}
