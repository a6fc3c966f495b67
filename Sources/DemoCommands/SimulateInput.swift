import ButtonModel
import Edges
import Simulator

/// Parses `--attach`, the address of a controller: `h4:tcp:HOST:PORT` or `h4:unix:PATH`.
enum Attachment {
    static func parse(_ text: String) -> H4StreamTransport.Endpoint? {
        if text.hasPrefix("h4:unix:") {
            let path = text.dropFirst("h4:unix:".count)
            return path.isEmpty ? nil : .unix(path: String(path))
        }
        guard text.hasPrefix("h4:tcp:") else { return nil }
        let address = text.dropFirst("h4:tcp:".count)
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            port > 0
        else { return nil }
        var host = address[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : .tcp(host: String(host), port: port)
    }
}

/// A line of standard input of `tryck simulate`.
enum SimulateInput: Hashable, Sendable {
    case act(button: String, SimulatedAction)
    case help
    /// The line was not understood; a sentence tells the user why.
    case mistake(String)

    /// Parses `NAME PRESS`; `nil` for an empty line.
    ///
    /// - Parameter buttons: the buttons that exist.
    init?(parsing line: String, buttons: [(name: String, model: FlicModel)]) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first else { return nil }
        guard words.count == 2 else {
            self =
                first == "help" || first == "?"
                ? .help : .mistake("Write a button and a press, for example: \(buttons.first?.name ?? "kitchen") click")
            return
        }
        guard let button = buttons.first(where: { $0.name == first }) else {
            self = .mistake(SimulatedAction.unknown(button: first, among: buttons.map(\.name)))
            return
        }
        guard let action = SimulatedAction(name: words[1]) else {
            self = .mistake(SimulatedAction.unknown(words[1]))
            return
        }
        if let complaint = action.reasonNotPossible(on: button.model, named: first) {
            self = .mistake(complaint)
        } else {
            self = .act(button: first, action)
        }
    }
}
