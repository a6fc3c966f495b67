import ButtonModel

/// A step of a press of one of the two buttons of a Duo.
struct DuoEvent: Hashable, Sendable {
    var part: ButtonPart
    /// The counter of this button after the step. Modulo 4 it means the same as for a Flic 2.
    var counter: UInt32
    /// The time since the button's boot in milliseconds, 47 bits.
    var milliseconds: UInt64
    var kind: Kind
    var gesture = Gesture.none
    var storage = Storage.live
    var acceleration = Acceleration()

    /// The kind of step: three bits, and a fourth for kinds 4 and 7.
    struct Kind: Hashable, Sendable {
        /// 0 up, still open; 1 click; 2 up after a hold; 3 double click; 4 double click after a long second press; 5
        /// down; 6 single click timeout; 7 hold.
        let rawValue: UInt8
        /// True for kind 4 if the second press was held as well, and for kind 7 if the press is the second of a double
        /// click.
        let isMarked: Bool

        init(rawValue: UInt8, isMarked: Bool = false) {
            self.rawValue = rawValue & 0b111
            self.isMarked = isMarked && Self.hasMark(self.rawValue)
        }

        static func hasMark(_ rawValue: UInt8) -> Bool { rawValue == 4 || rawValue == 7 }
        /// True if the item has a gesture field: ups and single click timeouts have it, downs and holds do not.
        var hasGesture: Bool { rawValue <= 4 || rawValue == 6 }
        /// True if the step is an up or a down, whose counters are odd.
        var isOdd: Bool { rawValue <= 5 }
    }

    /// The gesture that the button recognised from its own movement during a press.
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

    /// The acceleration at the time of the step; 64.036875 is 1 g. It is decoded and not used.
    struct Acceleration: Hashable, Sendable {
        var x: Int8 = 0
        var y: Int8 = 0
        var z: Int8 = 64
    }
}

extension DuoEvent.Kind {
    /// The code of the same step on a Flic 2.
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
