package import ButtonModel
import Bytes

extension ButtonSession {
    /// The event that `handle` will report for a GATT value, and the cursor after it, without changing the session.
    ///
    /// The owner can act on the event before `handle` does everything else. `handle` must follow with the same value at the
    /// same time.
    ///
    /// - Returns: `nil` unless the value is a complete packet of a Flic 2 with exactly one new event that is not late. For all
    ///   other values only `handle` knows the result.
    package mutating func preview(_ value: ArraySlice<UInt8>, at now: Instant) -> (
        event: ButtonEvent, cursor: EventCursor
    )? {
        guard case .ready(let ready) = state, dialect == .flic2, !isDuo, ready.duoStream == nil, assembler.isEmpty,
            value.count == Self.singleEventLength, let first = value.first,
            FrameHeader.isCompletePacket(first, ofConnection: connectionID),
            let packet = ready.channel.preview(value.dropFirst())
        else { return nil }
        var reader = ByteReader(packet)
        guard let opcode = try? reader.uint8(), opcode == ButtonPacket.buttonEventOpcode,
            let counter = try? reader.uint32(), let item = try? EventNotification.Item(&reader), !item.wasQueued
        else { return nil }
        var intake = intake
        let reported = ButtonEvent(
            button: intake.button, bootID: intake.cursor.bootID, counter: counter, step: item.code.step,
            ticks: item.ticks, wasQueuedLast: item.wasQueuedLast)
        guard let event = intake.accept(reported, at: now), !event.wasQueued else { return nil }
        return (event, intake.cursor)
    }

    /// The length of a GATT value with one event: header, opcode, counter, item, signature.
    private static let singleEventLength = 1 + 1 + 4 + 7 + Chaskey.signatureLength
}
