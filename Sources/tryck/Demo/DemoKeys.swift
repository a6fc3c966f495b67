import ButtonModel
import Simulator

/// Which key presses which button.
struct DemoKeyMap: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// A lower-case letter.
        var key: Character
        var button: String
    }

    private(set) var entries: [Entry] = []

    /// Each button gets the first letter of its name that is still free, else any free letter; `q` is never one.
    /// Buttons beyond the last letter get none.
    init(buttons: [String]) {
        let letters = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { Character(UnicodeScalar($0)) }
        var free = Set(letters).subtracting(["q"])
        for button in buttons {
            guard let key = (button.lowercased() + letters).first(where: free.contains) else { return }
            free.remove(key)
            entries.append(Entry(key: key, button: button))
        }
    }

    func button(for key: Character) -> String? { entries.first { $0.key == key }?.button }
}

/// What the keys of the demo do.
///
/// | key                         | button is up       | tapped down         | held down |
/// |-----------------------------|--------------------|---------------------|-----------|
/// | its letter                  | down, up in 100 ms | up 100 ms from now  | up        |
/// | its capital letter          | down               | held down           | up        |
/// | q, Ctrl-C, Ctrl-D           | quit               | quit                | quit      |
/// | any other, escape sequences | nothing            | nothing             | nothing   |
struct DemoKeys: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        case byte(UInt8)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        /// `.down` or `.up`.
        case move(button: String, SimulatedPress)
        case setTimer(Instant)
        case cancelTimer
        /// Say again which key does what.
        case help
        case quit
    }

    private enum Finger: Hashable {
        case tapping(until: Instant)
        case holding
    }

    /// A terminal that repeats a key does so faster than this, so a key held down stays down.
    static let tapDuration = Duration.milliseconds(100)

    private let map: DemoKeyMap
    private var fingers: [String: Finger] = [:]
    private var escape = EscapeSequence()

    init(_ map: DemoKeyMap) { self.map = map }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .byte(let byte):
            guard !escape.swallows(byte) else { return [] }
            switch byte {
            case 0x03, 0x04, UInt8(ascii: "q"): return [.quit]
            case UInt8(ascii: "?"): return [.help]
            default: return pressed(Character(UnicodeScalar(byte)), at: now)
            }
        case .timerFired:
            var effects: [Effect] = []
            for (button, finger) in fingers.sorted(by: { $0.key < $1.key }) {
                guard case .tapping(let end) = finger, end <= now else { continue }
                fingers[button] = nil
                effects.append(.move(button: button, .up))
            }
            return effects + timer
        }
    }

    private mutating func pressed(_ key: Character, at now: Instant) -> [Effect] {
        let lowercased = Character(key.lowercased())
        guard let button = map.button(for: lowercased) else { return [] }
        let isCapital = key != lowercased
        let before = fingers[button]
        if before == .holding {
            fingers[button] = nil
            return [.move(button: button, .up)]
        }
        fingers[button] = isCapital ? .holding : .tapping(until: now + Self.tapDuration)
        return (before == nil ? [.move(button: button, .down)] : []) + timer
    }

    private var timer: [Effect] {
        let ends = fingers.values.compactMap { if case .tapping(let end) = $0 { end } else { nil } }
        return [ends.min().map(Effect.setTimer) ?? .cancelTimer]
    }
}

/// Keys such as the arrows send several bytes, letters among them, that are not meant as letters.
private struct EscapeSequence: Hashable {
    private enum State: Hashable {
        case text, escape, control
    }

    private var state = State.text

    /// - Source: ECMA-48, 5.4: CSI, parameters, and a final byte from 0x40 to 0x7E.
    mutating func swallows(_ byte: UInt8) -> Bool {
        switch (state, byte) {
        case (_, 0x1B): state = .escape
        case (.text, _): return false
        case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): state = .control
        case (.escape, _): state = .text
        case (.control, 0x40...0x7E): state = .text
        case (.control, _): break
        }
        return true
    }
}
