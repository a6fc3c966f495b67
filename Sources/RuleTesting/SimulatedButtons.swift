import ButtonModel
import Gestures
import Rules

/// The simulated buttons of a test. They report only `down` and `up`, so that the recogniser decides which gesture the
/// presses are.
struct SimulatedButtons {
    private var declared: [DeclaredButton] = []
    private(set) var identities: [ButtonIdentity] = []
    private var counters: [ButtonID: UInt32] = [:]
    private var down: Set<ButtonID> = []
    /// How late the hold of each button that is held was reported.
    var holds: [ButtonID: RecognisedEvent.Lateness] = [:]

    init(_ buttons: [DeclaredButton]) { declare(buttons) }

    /// Replaces the declarations. New buttons get an identity; the others keep theirs.
    mutating func declare(_ buttons: [DeclaredButton]) {
        declared = buttons
        for button in buttons where !identities.contains(where: { button.hardware.matches($0) }) {
            identities.append(SimulatedButtons.identity(button, number: identities.count + 1))
        }
    }

    /// Invents an identity that matches the declaration.
    private static func identity(_ button: DeclaredButton, number: Int) -> ButtonIdentity {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        var address = BluetoothAddress(rawValue: 0x80E4_DAFF_0000 + UInt64(number & 0xFFFF), kind: .public)
        var uuid = String(repeating: "0", count: 26) + padded
        var serial = "TEST-\(padded)"
        var nickname = ""
        switch button.hardware {
        case .address(let id): address = BluetoothAddress(rawValue: id.rawValue, kind: .public)
        case .uuid(let text): uuid = text
        case .serial(let text): serial = text
        case .nickname(let text): nickname = text
        }
        return ButtonIdentity(
            address: address, uuid: uuid, serial: serial, nickname: nickname, firmwareVersion: 11,
            model: button.model)
    }

    func id(of name: String) -> ButtonID? {
        guard let button = declared(name) else { return nil }
        return identities.first { button.hardware.matches($0) }?.id
    }

    func declared(_ name: String) -> DeclaredButton? { declared.first { $0.name == name } }

    /// Presses or releases a button, and returns the event; `nil` if it is already down or up.
    mutating func move(_ name: String, isDown: Bool, at now: Instant) -> ButtonEvent? {
        guard let id = id(of: name), down.contains(id) != isDown else { return nil }
        if isDown { down.insert(id) } else { down.remove(id) }
        counters[id, default: 0] &+= 1
        return ButtonEvent(
            button: id, bootID: 1, counter: counters[id] ?? 0, step: isDown ? .down : .up(.open),
            ticks: UInt64(max(0, now.nanoseconds / 1000)) * 32_768 / 1_000_000,
            part: declared(name)?.model.pressedPart)
    }
}

extension FlicModel {
    /// The part of a press if the test does not specify one.
    var pressedPart: ButtonPart? { hasTwoButtons ? .big : nil }

    /// The part of a rotation if the test does not specify one.
    var turnedPart: ButtonPart { parts.contains(.dial) ? .dial : .big }
}
