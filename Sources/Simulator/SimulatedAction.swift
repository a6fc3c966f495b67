package import ButtonModel

/// An action on a simulated button, and its name on the command line: `click`, `swipe_left`, `turn_10`,
/// `push_turn_-25`. The prefix `small_` means the small button of a Duo.
package enum SimulatedAction: Hashable, Sendable {
    case press(SimulatedPress, part: ButtonPart = .big)
    case swipe(SwipeDirection, part: ButtonPart = .big)
    /// A turn in hundredths of a full turn, clockwise positive.
    case turn(hundredths: Int)
    /// A turn while the button is pressed.
    case pushTurn(hundredths: Int, part: ButtonPart = .big)

    /// Ten full turns, in hundredths of a turn.
    package static let maximumTurn = 1000
    private static let small = "small_"
    private static let turn = "turn_"
    private static let pushTurn = "push_turn_"

    /// Examples of names, for messages.
    package static let exampleNames = examples.joined(separator: ", ")

    /// Names of actions, with one or two of each kind that takes a number.
    package static let examples =
        SimulatedPress.allCases.map(\.rawValue) + SwipeDirection.allCases.map(\.rawValue)
        + ["turn_10", "turn_-10", "push_turn_10", "small_click"]

    package init?(name: String) {
        if name.hasPrefix(Self.turn) {
            guard let hundredths = Self.hundredths(name.dropFirst(Self.turn.count)) else { return nil }
            self = .turn(hundredths: hundredths)
            return
        }
        let part = name.hasPrefix(Self.small) ? ButtonPart.small : .big
        let action = part == .small ? String(name.dropFirst(Self.small.count)) : name
        if let press = SimulatedPress(rawValue: action) {
            self = .press(press, part: part)
        } else if let direction = SwipeDirection(rawValue: action) {
            self = .swipe(direction, part: part)
        } else if action.hasPrefix(Self.pushTurn),
            let hundredths = Self.hundredths(action.dropFirst(Self.pushTurn.count))
        {
            self = .pushTurn(hundredths: hundredths, part: part)
        } else {
            return nil
        }
    }

    package var name: String {
        switch self {
        case .press(let press, let part): Self.prefix(part) + press.rawValue
        case .swipe(let direction, let part): Self.prefix(part) + direction.rawValue
        case .turn(let hundredths): "\(Self.turn)\(hundredths)"
        case .pushTurn(let hundredths, let part): "\(Self.prefix(part))\(Self.pushTurn)\(hundredths)"
        }
    }

    package func isPossible(on model: FlicModel) -> Bool {
        switch self {
        case .press(_, let part): part == .big || model.hasTwoButtons
        case .swipe(let direction, _): model.swipes.contains(direction)
        // The Duo reports rotation while one of its buttons is down.
        case .turn: !model.rotations.isEmpty
        case .pushTurn(_, let part): !model.rotations.isEmpty && (part == .big || model.hasTwoButtons)
        }
    }

    /// A sentence that says why the action is not possible; `nil` if it is possible.
    package func reasonNotPossible(on model: FlicModel, named name: String) -> String? {
        guard !isPossible(on: model) else { return nil }
        let others = Self.examples.filter { SimulatedAction(name: $0)?.isPossible(on: model) == true }
        return
            "\(name) is a \(model.rawValue), which does not support \(self.name). It supports: \(others.joined(separator: ", "))."
    }

    private static func prefix(_ part: ButtonPart) -> String { part == .small ? small : "" }

    private static func hundredths(_ text: Substring) -> Int? {
        guard let number = Int(text), number != 0, (-maximumTurn...maximumTurn).contains(number) else { return nil }
        return number
    }
}

extension SimulatedAction {
    package func input(of button: String) -> SimulatedWorld.Input {
        switch self {
        case .press(let press, let part): .press(button: button, press, part: part)
        case .swipe(let direction, let part): .swipe(button: button, direction, part: part)
        case .turn(let hundredths): .turn(button: button, hundredths: hundredths)
        case .pushTurn(let hundredths, let part): .pushTurn(button: button, hundredths: hundredths, part: part)
        }
    }

    /// The input for a button with its own controller.
    package var input: SimulatedButton.Input {
        switch self {
        case .press(let press, let part): .press(press, part: part)
        case .swipe(let direction, let part): .swipe(direction, part: part)
        case .turn(let hundredths): .turn(hundredths: hundredths)
        case .pushTurn(let hundredths, let part): .pushTurn(hundredths: hundredths, part: part)
        }
    }
}
