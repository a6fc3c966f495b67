import Bytes

extension LEHost {
    /// The contents of the event `notified` for a notification that is complete in one HCI packet.
    package struct NotificationPreview: Sendable {
        package var handle: ConnectionHandle
        package var attribute: AttributeHandle
        /// A part of the packet.
        package var value: ArraySlice<UInt8>
    }

    /// The notification that `handle` will report for an HCI packet, without changing the host.
    ///
    /// - Parameter packet: an HCI packet with its H4 indicator.
    /// - Returns: `nil` unless the packet is ACL data of a link that exists, and contains exactly one L2CAP frame with a
    ///   Handle Value Notification of at most the default ATT_MTU.
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1; Vol 3, Part F, 3.4.7.1.
    package mutating func preview(_ packet: [UInt8]) -> NotificationPreview? {
        guard state == .ready, packet.count > Self.notificationHeaderLength,
            packet.count <= Self.notificationHeaderLength + Int(ATTPDU.minimumMTU) - 3
        else { return nil }
        var reader = ByteReader(packet)
        guard let indicator = try? reader.uint8(), indicator == H4Indicator.aclData.rawValue,
            let header = try? ACLHeader(decoding: &reader), header.boundary == .firstFromController,
            header.length == reader.remainingCount,
            let length = try? reader.uint16(), let channel = try? reader.uint16(),
            Int(length) == reader.remainingCount, channel == L2CAPChannelID.attributeProtocol.rawValue,
            let opcode = try? reader.uint8(), opcode == ATTPDU.Opcode.handleValueNotification,
            let attribute = try? reader.uint16(), links.index(forKey: header.handle) != nil
        else { return nil }
        return NotificationPreview(
            handle: header.handle, attribute: AttributeHandle(rawValue: attribute),
            value: reader.rest)
    }

    /// H4 indicator, ACL header, L2CAP header, opcode and attribute handle.
    private static let notificationHeaderLength = 1 + 4 + 4 + 3
}
