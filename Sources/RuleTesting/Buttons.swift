import ButtonModel
import Gestures
import Rules

/// The declared buttons of a test, which press as a Flic does: with the button's own verdicts, at its own times.
struct Buttons {
    private struct Press {
        var downAt: Instant
        var isSecond: Bool
        var wasHeld = false
        var isDown = true
    }

    private struct Timed {
        var at: Instant
        var name: String
        var step: PressStep
    }

    static let doubleClickTime = Duration.milliseconds(500)
    static let holdTime = Duration.seconds(1)

    private var declared: [DeclaredButton] = []
    private(set) var identities: [ButtonIdentity] = []
    private var counters: [String: UInt32] = [:]
    private var presses: [String: Press] = [:]
    private var timed: [Timed] = []

    init(_ buttons: [DeclaredButton]) { declare(buttons) }

    /// Those that are new are made; the others stay what they are.
    mutating func declare(_ buttons: [DeclaredButton]) {
        declared = buttons
        for button in buttons where !identities.contains(where: { button.hardware.matches($0) }) {
            identities.append(Buttons.identity(button, number: identities.count + 1))
        }
    }

    /// Made up, but for what the rules know it by.
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
        return ButtonIdentity(address: address, uuid: uuid, serial: serial, nickname: nickname, firmwareVersion: 11)
    }

    func id(of name: String) -> ButtonID? {
        guard let button = declared.first(where: { $0.name == name }) else { return nil }
        return identities.first { button.hardware.matches($0) }?.id
    }

    func declared(_ name: String) -> DeclaredButton? { declared.first { $0.name == name } }

    // MARK: Raw presses

    mutating func down(_ name: String, at now: Instant) -> ButtonEvent? {
        guard presses[name]?.isDown != true else { return nil }
        let before = presses[name]
        let isSecond = before.map { !$0.isSecond && !$0.wasHeld && now - $0.downAt <= Self.doubleClickTime } ?? false
        timed.removeAll { $0.name == name }
        presses[name] = Press(downAt: now, isSecond: isSecond)
        timed.append(Timed(at: now + Self.holdTime, name: name, step: .hold(ofSecondPress: isSecond)))
        return event(name, .down, at: now)
    }

    mutating func up(_ name: String, at now: Instant) -> ButtonEvent? {
        guard var press = presses[name], press.isDown else { return nil }
        press.isDown = false
        presses[name] = press
        timed.removeAll { $0.name == name }
        let release: PressStep.Release
        switch (press.isSecond, press.wasHeld) {
        case (true, true): release = .afterHoldDoubleClick
        case (false, true): release = .afterHoldClick
        case (true, false): release = .doubleClick
        case (false, false) where now - press.downAt > Self.doubleClickTime: release = .click
        case (false, false):
            release = .open
            timed.append(Timed(at: press.downAt + Self.doubleClickTime, name: name, step: .clickTimeout))
        }
        if release != .open { presses[name] = nil }
        return event(name, .up(release), at: now)
    }

    private mutating func event(_ name: String, _ step: PressStep, at now: Instant) -> ButtonEvent? {
        guard let id = id(of: name) else { return nil }
        counters[name, default: 0] &+= 1
        return ButtonEvent(
            button: id, bootID: 1, counter: counters[name] ?? 0, step: step,
            ticks: UInt64(max(0, now.nanoseconds / 1000)) * 32_768 / 1_000_000)
    }

    var nextMoment: Instant? { timed.map(\.at).min() }

    mutating func takeDue(at now: Instant) -> [ButtonEvent] {
        let due = timed.filter { $0.at <= now }
        timed.removeAll { $0.at <= now }
        return due.compactMap { entry in
            switch entry.step {
            case .hold: presses[entry.name]?.wasHeld = true
            default: presses[entry.name] = nil
            }
            return event(entry.name, entry.step, at: entry.at)
        }
    }

    mutating func forgetPresses() {
        presses = [:]
        timed = []
    }
}
