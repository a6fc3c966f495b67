import ButtonModel
import Simulator

/// Assigns keys of the terminal to simulated buttons.
struct DemoKeyMap: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// A lower-case letter.
        var key: Character
        var button: String
        var model = FlicModel.flic2
        /// The part of the button: `small` for the second key of a Duo.
        var part = ButtonPart.big
    }

    private(set) var entries: [Entry] = []

    /// Assigns each button the first letter of its name that is free, otherwise any free letter, and then the small
    /// button of each Duo a letter of its own. `q` is never assigned. Buttons get no key when all letters are taken.
    init(buttons: [String], models: [String: FlicModel] = [:]) {
        let letters = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { Character(UnicodeScalar($0)) }
        var free = Set(letters).subtracting(["q"])
        func take(_ wanted: String) -> Character? {
            guard let key = (wanted.lowercased() + letters).first(where: free.contains) else { return nil }
            free.remove(key)
            return key
        }
        for button in buttons {
            guard let key = take(button) else { return }
            entries.append(Entry(key: key, button: button, model: models[button] ?? .flic2))
        }
        for duo in entries where duo.model.hasTwoButtons {
            guard let key = take("small") else { return }
            entries.append(Entry(key: key, button: duo.button, model: duo.model, part: .small))
        }
    }

    func entry(for key: Character) -> Entry? { entries.first { $0.key == key } }
}

/// Translates the keys of the demo into actions of its buttons.
///
/// | key                         | button is up       | tapped down         | held down |
/// |-----------------------------|--------------------|---------------------|-----------|
/// | its letter                  | down, up in 100 ms | up 100 ms from now  | up        |
/// | its capital letter          | down               | held down           | up        |
/// | q, Ctrl-C, Ctrl-D           | quit               | quit                | quit      |
/// | ?                           | help               | help                | help      |
/// | any other, escape sequences | nothing            | nothing             | nothing   |
///
/// The arrows swipe over a Duo; plus and minus turn a Twist. If there are several, they act on the button whose key was
/// pressed last, otherwise on the first. A Duo or a Twist that is held down is turned before any other.
struct DemoKeys: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        case byte(UInt8)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        case act(button: String, SimulatedAction)
        case setTimer(Instant)
        case cancelTimer
        /// Show again what the keys do.
        case help
        case quit
    }

    private enum Finger: Hashable {
        case tapping(until: Instant)
        case holding
    }

    /// Terminals repeat a key faster than this, so a key that is held down keeps its button down.
    static let tapDuration = Duration.milliseconds(100)
    /// How far plus and minus turn, in hundredths of a whole turn.
    static let turn = 5

    private let map: DemoKeyMap
    /// The state of the finger on each key, by key.
    private var fingers: [Character: Finger] = [:]
    private var latestKey: Character?
    private var escape = EscapeSequence()

    init(_ map: DemoKeyMap) { self.map = map }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .byte(let byte):
            switch escape.read(byte) {
            case .swallowed: return []
            case .arrow(let direction): return swiped(direction)
            case .text: break
            }
            switch byte {
            case 0x03, 0x04, UInt8(ascii: "q"): return [.quit]
            case UInt8(ascii: "?"): return [.help]
            case UInt8(ascii: "+"): return turned(by: DemoKeys.turn)
            case UInt8(ascii: "-"): return turned(by: -DemoKeys.turn)
            default: return pressed(Character(UnicodeScalar(byte)), at: now)
            }
        case .timerFired:
            var effects: [Effect] = []
            for (key, finger) in fingers.sorted(by: { $0.key < $1.key }) {
                guard case .tapping(let end) = finger, end <= now, let entry = map.entry(for: key) else { continue }
                fingers[key] = nil
                effects.append(entry.move(.up))
            }
            return effects + timer
        }
    }

    private mutating func pressed(_ key: Character, at now: Instant) -> [Effect] {
        let lowercased = Character(key.lowercased())
        guard let entry = map.entry(for: lowercased) else { return [] }
        latestKey = lowercased
        let isCapital = key != lowercased
        let before = fingers[lowercased]
        if before == .holding {
            fingers[lowercased] = nil
            return [entry.move(.up)]
        }
        fingers[lowercased] = isCapital ? .holding : .tapping(until: now + Self.tapDuration)
        return (before == nil ? [entry.move(.down)] : []) + timer
    }

    private func swiped(_ direction: SwipeDirection) -> [Effect] {
        guard let duo = meant({ !$0.swipes.isEmpty }) else { return [] }
        return [.act(button: duo.button, .swipe(direction, part: duo.part))]
    }

    private func turned(by hundredths: Int) -> [Effect] {
        let held = map.entries.first { fingers[$0.key] == .holding && !$0.model.rotations.isEmpty }
        guard let dial = held ?? meant(\.hasSlots) else { return [] }
        return [.act(button: dial.button, .turn(hundredths: hundredths))]
    }

    /// The button pressed last if its model is suitable, else the first button of such a model.
    private func meant(_ isSuitable: (FlicModel) -> Bool) -> DemoKeyMap.Entry? {
        let latest = latestKey.flatMap { map.entry(for: $0) }
        if let latest, isSuitable(latest.model) { return latest }
        return map.entries.first { isSuitable($0.model) }
    }

    private var timer: [Effect] {
        let ends = fingers.values.compactMap { if case .tapping(let end) = $0 { end } else { nil } }
        return [ends.min().map(Effect.setTimer) ?? .cancelTimer]
    }
}

extension DemoKeyMap.Entry {
    fileprivate func move(_ press: SimulatedPress) -> DemoKeys.Effect {
        .act(button: button, .press(press, part: part))
    }
}

/// Recognises the escape sequences that keys such as the arrows send. They contain letters that were not typed.
private struct EscapeSequence: Hashable {
    enum Meaning: Hashable {
        case text
        case swallowed
        case arrow(SwipeDirection)
    }

    private enum State: Hashable {
        case text, escape, control
    }

    private var state = State.text

    /// - Source: ECMA-48, 5.4: CSI, parameters, and a final byte from 0x40 to 0x7E.
    mutating func read(_ byte: UInt8) -> Meaning {
        switch (state, byte) {
        case (_, 0x1B): state = .escape
        case (.text, _): return .text
        case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): state = .control
        case (.escape, _): state = .text
        case (.control, 0x40...0x7E):
            state = .text
            if let direction = EscapeSequence.arrows[byte] { return .arrow(direction) }
        case (.control, _): break
        }
        return .swallowed
    }

    private static let arrows: [UInt8: SwipeDirection] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
    ]
}
