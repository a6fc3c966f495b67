import ButtonModel
import CommandSupport
import Edges
import Glibc
import JSON
import Platform
import Reactor
import Simulator

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
    private var buttons: [AttachedButton] = []
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

    func start(_ descriptions: [SimulatedButtonDescription], at endpoint: H4StreamTransport.Endpoint) {
        let loop = EventLoop.shared
        // The loop keeps this object alive through the handler.
        conversation.onInterrupt { self.end(nil) }
        show(SimulateText.trustRoot(SimulatorRoot.publicKey.map(hexadecimal).joined()))
        models = descriptions.map { ($0.name, $0.model) }
        buttons = descriptions.map { description in
            AttachedButton(loop, description, at: endpoint, seed: 0) { [unowned self] event in
                happened(event, on: description.name)
            }
        }
        if isatty(STDIN_FILENO) == 1, !isJSON { output.write(SimulateText.help(buttons: models.map(\.name))) }
        movementTimer = loop.timer { [unowned self] in endIfDone() }
        inputWatch = loop.watch(STDIN_FILENO, .read) { [unowned self] _ in read() }
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
        conversation.end(failure.map { .failure($0) } ?? .success(()))
    }

    private func show(_ line: JSONValue) {
        if isJSON {
            output.write(line: line.description)
        } else {
            output.write(SimulateText.lines(line))
        }
    }

    private func hexadecimal(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return digits.count < 2 ? "0\(digits)" : digits
    }
}
