import ButtonModel
import Bytes

/// Steps of presses as sent by a Twist, oldest first, and the event counter after the last of them.
///
///     octet  1        5 + 8n
///            counter  ticks (48 bits), code (4), was queued (1), was queued last (1), mode (4), reserved (6)
///
/// - Source: protocol notes, 8.2 ("Presses").
struct TwistEventNotification: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        /// The time since the button's boot in units of 1/32768 s, 48 bits.
        var ticks: UInt64
        var code: TwistEventCode
        var wasQueued = false
        var wasQueuedLast = false
        /// The mode in which the Twist was, 0…15.
        var mode = 0
    }

    var eventCount: UInt32
    var items: [Item]

    /// The maximum number of items of 8 octets that fit into a GATT value with header and signature; 1…14.
    static func maximumItemCount(attMTU: Int) -> Int {
        let room = min(attMTU - 3, Frame.maximumPacketLength)
        return max((room - 5 - Chaskey.signatureLength) / 8, 1)
    }

    /// The same steps in the encoding of a Flic 2.
    ///
    /// An up of a Twist does not say whether the press was a hold. This follows from the counters: a hold is counted
    /// immediately before the up.
    ///
    /// - Parameter processedCount: the counter of the last event before this notification.
    func common(after processedCount: UInt32) -> EventNotification {
        var common = EventNotification(
            eventCount: eventCount,
            items: items.map {
                .init(
                    ticks: $0.ticks, code: $0.code.common(afterHold: false), wasQueued: $0.wasQueued,
                    wasQueuedLast: $0.wasQueuedLast)
            })
        var former = processedCount
        for (index, counted) in common.countedItems.enumerated() {
            let isAfterHold = former % 4 == 2 && counted.counter == former &+ 1
            common.items[index].code = items[index].code.common(afterHold: isAfterHold)
            former = counted.counter
        }
        return common
    }
}

/// A step of a press in the four-bit encoding of a Twist.
///
/// The two low bits are the step: 0 up, 1 down, 2 single click timeout, 3 hold. Bit 2 of an up means that the press was
/// shorter than half a second, and bit 3 that it ends a double click. Bit 2 of a down or a hold means the second press.
///
/// - Source: protocol notes, 8.2 ("Presses").
struct TwistEventCode: Hashable, Sendable {
    /// 0…15.
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// The code of the same step in the encoding of a Flic 2, which has several codes for an up.
    func common(afterHold isAfterHold: Bool) -> EventCode {
        guard rawValue & 0b11 == 0 else { return EventCode(rawValue: rawValue & 0b111) }
        if rawValue & 0b1000 != 0 { return EventCode(rawValue: isAfterHold ? 15 : 11) }
        if isAfterHold { return EventCode(rawValue: 14) }
        return EventCode(rawValue: rawValue & 0b100 != 0 ? 8 : 10)
    }

    /// The code that a Twist uses for a step in the encoding of a Flic 2.
    init(_ common: EventCode) {
        switch common.step {
        case .up(.open): self.init(rawValue: 0b0100)
        case .up(.click), .up(.afterHold), .up(.afterHoldClick): self.init(rawValue: 0)
        case .up(.doubleClick): self.init(rawValue: 0b1100)
        case .up(.afterHoldDoubleClick): self.init(rawValue: 0b1000)
        case .down, .clickTimeout, .hold: self.init(rawValue: common.rawValue & 0b111)
        }
    }
}

extension TwistEventNotification {
    init(_ reader: inout ByteReader) throws(Truncated) {
        eventCount = try reader.uint32()
        items = []
        while reader.remainingCount >= 8 {
            let ticks = try reader.uint48()
            let bits = try reader.uint16()
            items.append(
                Item(
                    ticks: ticks, code: TwistEventCode(rawValue: UInt8(bits & 0x0F)), wasQueued: bits & 0x10 != 0,
                    wasQueuedLast: bits & 0x20 != 0, mode: Int(bits >> 6 & 0x0F)))
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.uint32(eventCount)
        for item in items {
            writer.uint48(item.ticks)
            writer.uint16(
                UInt16(item.code.rawValue) | (item.wasQueued ? 0x10 : 0) | (item.wasQueuedLast ? 0x20 : 0)
                    | UInt16(item.mode & 0x0F) << 6)
        }
    }
}
