import ButtonModel

/// A step of a press of one of a Duo's two buttons.
struct DuoEvent: Hashable, Sendable {
    var part: ButtonPart
    /// Of this button, at this step. Its remainder by 4 means what it means on a Flic 2.
    var counter: UInt32
    /// Since the button's boot, 47 bits.
    var milliseconds: UInt64
    var kind: Kind
    var gesture = Gesture.none
    var storage = Storage.live
    var acceleration = Acceleration()

    /// Three bits, and one more for those that come in two ways.
    struct Kind: Hashable, Sendable {
        /// 0…7: up, still open; click; up after a hold; double click; double click after a long second press; down;
        /// single click timeout; hold.
        let rawValue: UInt8
        /// Of 4: the double click was a hold, too. Of 7: the press is the second of a double click.
        let isMarked: Bool

        init(rawValue: UInt8, isMarked: Bool = false) {
            self.rawValue = rawValue & 0b111
            self.isMarked = isMarked && Self.hasMark(self.rawValue)
        }

        static func hasMark(_ rawValue: UInt8) -> Bool { rawValue == 4 || rawValue == 7 }
        /// Steps that end a press have a gesture; a `down` and a hold have none.
        var hasGesture: Bool { rawValue <= 4 || rawValue == 6 }
        /// Ups and downs, whose counters are odd.
        var isOdd: Bool { rawValue <= 5 }
    }

    /// What the button saw of its own movement during a press.
    enum Gesture: Hashable, Sendable {
        case none
        case unrecognised
        case swipe(SwipeDirection)
    }

    enum Storage: Hashable, Sendable {
        case live
        case queued
        case queuedLast
    }

    /// Where it was pulled at that moment: 64.036875 is the pull of the earth. Nothing here uses it.
    struct Acceleration: Hashable, Sendable {
        var x: Int8 = 0
        var y: Int8 = 0
        var z: Int8 = 64
    }
}

extension DuoEvent.Kind {
    /// The same step as a Flic 2 says it.
    ///
    /// - Source: protocol notes, 8.1.
    var code: EventCode {
        switch rawValue {
        case 0: EventCode(rawValue: 8)
        case 1: EventCode(rawValue: 10)
        case 2: EventCode(rawValue: 14)
        case 3: EventCode(rawValue: 11)
        case 4: EventCode(rawValue: isMarked ? 15 : 11)
        case 5: EventCode(rawValue: 1)
        case 6: EventCode(rawValue: 2)
        default: EventCode(rawValue: isMarked ? 7 : 3)
        }
    }

    init(_ code: EventCode) {
        switch code.step {
        case .up(.open): self.init(rawValue: 0)
        case .up(.click): self.init(rawValue: 1)
        case .up(.afterHold), .up(.afterHoldClick): self.init(rawValue: 2)
        case .up(.doubleClick): self.init(rawValue: 3)
        case .up(.afterHoldDoubleClick): self.init(rawValue: 4, isMarked: true)
        case .down: self.init(rawValue: 5)
        case .clickTimeout: self.init(rawValue: 6)
        case .hold(let ofSecondPress): self.init(rawValue: 7, isMarked: ofSecondPress)
        }
    }
}

extension DuoEvent.Gesture {
    var swipe: SwipeDirection? { if case .swipe(let direction) = self { direction } else { nil } }
}
