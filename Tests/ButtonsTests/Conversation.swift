import ButtonModel
import Buttons
import Radios
import TestSupport
import Testing

/// A conversation of a `ButtonManager` with a controller and a button that are nothing but known octets.
///
/// A test says what the manager receives, and then names everything that the manager sends and reports, in order. An
/// effect that the test does not name is recorded as an issue at the next input. The controller confirms each ACL packet
/// at once, and `wait` fires the timer, so the test names neither.
struct Conversation {
    private var manager: ButtonManager
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    /// The effects that the test has not named yet.
    private var effects: [ButtonManager.Effect] = []
    private var timer: Instant?

    init(maximumLinks: Int? = nil) { manager = ButtonManager(radios: [.local(maximumLinks: maximumLinks)]) }

    mutating func when(_ input: ButtonManager.Input, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        feed(input, sourceLocation)
    }

    /// - Parameters:
    ///   - name: the name of the packet, for the reader.
    ///   - text: an HCI packet with its H4 indicator, in hexadecimal.
    mutating func receives(_ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        when(.received(octets(text)), sourceLocation: sourceLocation)
    }

    mutating func sends(_ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .send(let packet, _)? = effects.first else {
            Issue.record("\(name) is not sent, but \(effects)", sourceLocation: sourceLocation)
            return
        }
        effects.removeFirst()
        #expect(hexadecimal(packet) == hexadecimal(octets(text)), "\(name)", sourceLocation: sourceLocation)
    }

    // MARK: Through BlueZ

    mutating func calls(_ call: BlueZCall, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .bus(.call(_, let next), _)? = effects.first else {
            Issue.record("\(call) is not called, but \(effects)", sourceLocation: sourceLocation)
            return
        }
        effects.removeFirst()
        #expect(next == call, sourceLocation: sourceLocation)
    }

    mutating func notifies(
        _ name: String, _ text: String, on link: LinkID, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        when(.bus(.received(link, octets(text))), sourceLocation: sourceLocation)
    }

    mutating func writes(
        _ name: String, _ text: String, on link: LinkID, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(effects.first == .bus(.write(link, octets(text))), "\(name)", sourceLocation: sourceLocation)
        effects = Array(effects.dropFirst())
    }

    mutating func closes(_ link: LinkID, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.first == .bus(.closeChannels(link)), sourceLocation: sourceLocation)
        effects = Array(effects.dropFirst())
    }

    /// The next effect that the test has not named.
    var next: ButtonManager.Effect? { effects.first }

    /// Passes over the effects that the test does not name.
    mutating func passOver() { effects = [] }

    mutating func preview(_ input: ButtonManager.Input) -> (event: ButtonEvent, cursor: EventCursor)? {
        manager.preview(input, at: now)
    }

    mutating func reports(_ effect: ButtonManager.Effect, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.first == effect, sourceLocation: sourceLocation)
        effects = Array(effects.dropFirst())
    }

    /// Advances the clock, and fires the timer at each deadline until then.
    mutating func wait(_ duration: Duration, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        let end = now + duration
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            feed(.timerFired, sourceLocation)
        }
        now = end
    }

    /// The test has named all effects.
    mutating func ends(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.isEmpty, sourceLocation: sourceLocation)
        effects = []
    }

    private mutating func feed(_ input: ButtonManager.Input, _ sourceLocation: SourceLocation) {
        for effect in manager.checked(input, at: now, sourceLocation: sourceLocation) {
            switch effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            // These reports are only for the metrics. `ConnectingTests` tests them.
            case .connectionMade, .connectFailed, .notificationLost: break
            default: effects.append(effect)
            }
            // Number Of Completed Packets: one packet of the connection in the ACL packet's header.
            if case .send(let packet, _) = effect, packet.first == 0x02 {
                feed(.received([0x04, 0x13, 0x05, 0x01, packet[1], packet[2] & 0x0F, 0x01, 0x00]), sourceLocation)
            }
        }
    }
}

/// The octets of hexadecimal text. Blanks separate fields.
func octets(_ text: String) -> [UInt8] {
    let digits = Array(text.filter { $0 != " " })
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

private func hexadecimal(_ octets: [UInt8]) -> String {
    octets.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
}
