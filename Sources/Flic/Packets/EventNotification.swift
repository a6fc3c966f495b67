import ButtonModel
import Bytes

/// Steps of presses, oldest first, and the event counter after the last of them.
///
///     octet  1        5 + 7n
///            counter  ticks (48 bits), code (4), was queued (1), was queued last (1), reserved (2)
///
/// The counter modulo 4 identifies the kind of step: 1 down, 2 hold, 3 up, 0 single click timeout. The counter skips
/// steps that do not happen, so the counters of the earlier items are derived from the last counter, backwards.
///
/// - Source: protocol notes, 4.7 and 6.6.
struct EventNotification: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        /// The time since the button's boot in units of 1/32768 s, 48 bits.
        var ticks: UInt64
        var code: EventCode
        var wasQueued: Bool
        var wasQueuedLast: Bool

        init(ticks: UInt64, code: EventCode, wasQueued: Bool = false, wasQueuedLast: Bool = false) {
            self.ticks = ticks
            self.code = code
            self.wasQueued = wasQueued
            self.wasQueuedLast = wasQueuedLast
        }
    }

    var eventCount: UInt32
    var items: [Item]

    init(eventCount: UInt32, items: [Item]) {
        self.eventCount = eventCount
        self.items = items
    }

    /// The maximum number of items in a packet.
    static let maximumItemCount = 16

    /// True if the host must acknowledge the notification, because the button stores its events until then.
    var needsAcknowledgement: Bool { items.contains { $0.code.needsAcknowledgement } }

    /// The items with their counters. A counter that would be negative is 0; no button sends such items.
    var countedItems: [(counter: UInt32, item: Item)] {
        var counted: [(counter: UInt32, item: Item)] = []
        var counter = eventCount
        for item in items.reversed() {
            if let later = counted.last {
                counter = later.counter.saturatingSubtract(item.code.distance(to: later.counter))
            }
            counted.append((counter, item))
        }
        return counted.reversed()
    }
}

/// A step of a press, encoded in four bits.
///
/// A code with bit 3 set, or with both low bits clear, is an up. In an up with bit 3 set, bit 2 says that the press was
/// a hold, bit 1 that the gesture is certain, and bit 0 that it is a double click. In all other codes the two low bits
/// are the step.
///
/// - Source: protocol notes, 6.6.
struct EventCode: Hashable, Sendable {
    /// 0…15.
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    var step: PressStep {
        guard rawValue & 0b1000 == 0, rawValue & 0b11 != 0 else {
            let isHold = rawValue & 0b1100 == 0b1100
            guard rawValue & 0b1010 == 0b1010 else { return .up(isHold ? .afterHold : .open) }
            let isDouble = rawValue & 1 != 0
            if isHold { return .up(isDouble ? .afterHoldDoubleClick : .afterHoldClick) }
            return .up(isDouble ? .doubleClick : .click)
        }
        switch rawValue & 0b11 {
        case 1: return .down
        case 2: return .clickTimeout
        default: return .hold(ofSecondPress: rawValue & 0b100 != 0)
        }
    }

    var needsAcknowledgement: Bool {
        switch step {
        case .clickTimeout, .up(.click), .up(.doubleClick), .up(.afterHoldClick), .up(.afterHoldDoubleClick): true
        case .down, .hold, .up(.open), .up(.afterHold): false
        }
    }

    /// The difference between the counter of the later item and this item's counter.
    fileprivate func distance(to later: UInt32) -> UInt32 {
        switch step {
        case .clickTimeout: later % 4 == 3 ? 2 : 1
        case .hold: later % 4 == 1 ? 2 : 1
        case .down, .up: later % 2 == 1 ? 2 : 1
        }
    }
}

extension EventNotification.Item {
    static let length = 7

    init(_ reader: inout ByteReader) throws(Truncated) {
        ticks = try reader.uint48()
        let bits = try reader.uint8()
        code = EventCode(rawValue: bits)
        wasQueued = bits & 0x10 != 0
        wasQueuedLast = bits & 0x20 != 0
    }
}

extension EventNotification {
    init(_ reader: inout ByteReader) throws(Truncated) {
        eventCount = try reader.uint32()
        items = []
        while reader.remainingCount >= Item.length { items.append(try Item(&reader)) }
    }

    func write(to writer: inout ByteWriter) {
        writer.uint32(eventCount)
        for item in items {
            writer.uint48(item.ticks)
            writer.uint8(item.code.rawValue | (item.wasQueued ? 0x10 : 0) | (item.wasQueuedLast ? 0x20 : 0))
        }
    }
}

extension UInt32 {
    fileprivate func saturatingSubtract(_ other: UInt32) -> UInt32 { self > other ? self - other : 0 }
}
