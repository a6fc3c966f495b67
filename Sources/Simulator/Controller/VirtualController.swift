public import BluetoothHost
public import ButtonModel
import Bytes

/// A virtual HCI controller for LE, the peer of `BluetoothHost`.
///
/// It checks its host strictly. A command with a wrong length or a parameter out of range is refused with 0x12, a
/// command in a wrong state with 0x0C, and an unknown command with 0x01. LE events are masked until the host enables
/// them, and ACL data beyond the number of buffers is lost. Mistakes that a real controller could not report are also
/// emitted as `violation`.
///
/// `Air` simulates the radio: it reads `advertiser`, `isListening` and `initiator`, and passes the results as inputs.
///
/// | activity    | begins with             | ends with                                                  |
/// |-------------|-------------------------|------------------------------------------------------------|
/// | advertising | advertising enable      | advertising disable, a link, Reset                         |
/// | scanning    | scan enable             | scan disable, Reset                                        |
/// | initiating  | Create Connection       | a link (0x00), Cancel (0x00, then Connection Complete 0x02), Reset |
/// | link        | a meeting on the air    | Disconnect by either side, supervision timeout, Reset      |
///
/// Reset clears everything except the configuration and the faults; a loss of power clears the faults, too.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E.
public struct VirtualController: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var address: BluetoothAddress
        /// The maximum length of an ACL data packet in either direction, in octets.
        public var aclDataLength: UInt16
        public var aclBufferCount: UInt8
        /// True if LE Read Buffer Size returns 0, so that LE data uses the buffers of Read Buffer Size.
        public var sharesBuffers: Bool
        /// The size of the filter accept list, which may be 0.
        public var acceptListSize: UInt8
        public var maximumLinks: Int
        /// True if the controller supports the Connection Parameters Request procedure.
        public var supportsParameterRequests: Bool
        /// If false, scanning and initiating refuse each other.
        public var scansWhileInitiating: Bool
        /// If false, LE Supported is missing in its features.
        public var isLowEnergy: Bool
        public var faults: Faults

        public init(
            address: BluetoothAddress, aclDataLength: UInt16 = 27, aclBufferCount: UInt8 = 8,
            sharesBuffers: Bool = false, acceptListSize: UInt8 = 16, maximumLinks: Int = 8,
            supportsParameterRequests: Bool = true, scansWhileInitiating: Bool = true,
            isLowEnergy: Bool = true, faults: Faults = Faults()
        ) {
            self.address = address
            self.aclDataLength = aclDataLength
            self.aclBufferCount = aclBufferCount
            self.sharesBuffers = sharesBuffers
            self.acceptListSize = acceptListSize
            self.maximumLinks = maximumLinks
            self.supportsParameterRequests = supportsParameterRequests
            self.scansWhileInitiating = scansWhileInitiating
            self.isLowEnergy = isLowEnergy
            self.faults = faults
        }
    }

    /// Faults of real controllers. None by default.
    public struct Faults: Hashable, Sendable {
        /// The controller ignores all packets and never responds.
        public var isSilent = false
        /// Commands that are refused with 0x01, although LE controllers must support them.
        public var unknownCommands: Set<HCIOpcode> = []
        /// Commands that are performed without a response.
        public var unansweredCommands: Set<HCIOpcode> = []
        /// Unknown commands are refused with Command Complete instead of Command Status.
        public var completesUnknownCommands = false
        /// Connection Complete is sent before the Command Status of Create Connection.
        public var reportsConnectionBeforeCommandStatus = false

        public init() {}
    }

    public enum Input: Hashable, Sendable {
        /// An HCI packet from the host, with its H4 indicator.
        case received([UInt8])
        /// An advertisement or a scan response was received.
        case advertisementReceived(AdvertisingReport)
        /// The air has established a link. `handle` is free at this controller.
        case linked(ConnectionHandle, peer: BluetoothAddress, role: LinkRole, ConnectionParameters)
        /// The peer has received the oldest ACL packet in the buffers of this link.
        case delivered(ConnectionHandle)
        /// The peer has sent this fragment.
        case arrived(ConnectionHandle, ACLFragment)
        /// The RSSI of the peer in dBm, the response to `measure`.
        case measured(ConnectionHandle, rssi: Int8)
        case parametersUpdated(ConnectionHandle, HCIStatus, ConnectionParameters)
        /// The peripheral's controller requests other parameters.
        case parametersRequested(ConnectionHandle, ConnectionParameters)
        case unlinked(ConnectionHandle, reason: HCIStatus)
        case fault(ControllerFault)
        /// The power was lost and is back: everything is cleared, including faults.
        case powerCycled
    }

    public enum Effect: Hashable, Sendable {
        /// An HCI packet to the host, with its H4 indicator.
        case send([UInt8])
        /// An HCI packet to send after a delay, unless the power is lost before, or the host resets the controller.
        case sendLater([UInt8], after: Duration)
        /// Discards the packets to be sent later.
        case discardLate
        case transmit(ConnectionHandle, ACLFragment)
        /// The host has ended this link; both ends then get `unlinked`.
        case terminate(ConnectionHandle, reason: HCIStatus)
        /// This end has discarded the link without informing its peer.
        case abandon(ConnectionHandle)
        /// Requests the RSSI of this link's peer.
        case measure(ConnectionHandle)
        /// The central changes the parameters.
        case updateParameters(ConnectionHandle, ConnectionParameters)
        /// The peripheral requests parameters from the central's controller.
        case requestParameters(ConnectionHandle, ConnectionParameters)
        /// The central's host has rejected the peripheral's request.
        case refuseParameters(ConnectionHandle, reason: HCIStatus)
        /// The host violated the HCI specification.
        case violation(String)
    }

    public let configuration: Configuration
    var resettable = ResettableState()
    var activeFaults = ActiveFaults()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .received(let packet):
            return receive(packet, at: now)

        case .advertisementReceived(let report):
            guard resettable.scan?.remember(report) == true else { return [] }
            return event(.advertisingReport(report))

        case .linked(let handle, let peer, let role, let parameters):
            return link(handle, to: peer, as: role, parameters, at: now)

        case .delivered(let handle):
            guard let link = resettable.links[handle], link.buffersInUse > 0 else { return [] }
            resettable.links[handle]?.buffersInUse -= 1
            guard !activeFaults.losesPacket() else { return [] }
            return event(.numberOfCompletedPackets(handle: handle, count: 1), of: handle, at: now)

        case .arrived(let handle, let fragment):
            guard resettable.links[handle] != nil, !activeFaults.isWedged else { return [] }
            return fragment.split(to: Int(configuration.aclDataLength)).map { .send($0.packet(for: handle)) }

        case .measured(let handle, let rssi):
            return measured(handle, rssi: rssi)

        case .parametersUpdated(let handle, let status, let parameters):
            guard resettable.links[handle] != nil else { return [] }
            resettable.links[handle]?.isUpdating = false
            return event(
                .connectionUpdateComplete(
                    status, handle: handle, interval: parameters.intervalMaximum,
                    peripheralLatency: parameters.peripheralLatency,
                    supervisionTimeout: parameters.supervisionTimeout), of: handle, at: now)

        case .parametersRequested(let handle, let parameters):
            guard let link = resettable.links[handle], link.role == .central else { return [] }
            let request = ControllerEvent.remoteConnectionParameterRequest(handle: handle, parameters)
            guard isEnabled(request) else {
                return [.refuseParameters(handle, reason: .unsupportedRemoteFeature)]
            }
            resettable.links[handle]?.isAskedForParameters = true
            return event(request, of: handle, at: now)

        case .unlinked(let handle, let reason):
            guard resettable.links.removeValue(forKey: handle) != nil else { return [] }
            return event(.disconnectionComplete(handle: handle, reason: reason.rawValue), of: handle, at: now)

        case .fault(let fault):
            activeFaults.add(fault)
            if case .hardwareError(let code) = fault { return event(.hardwareError(code)) }
            return []

        case .powerCycled:
            let abandoned = resettable.links.keys.sorted { $0.rawValue < $1.rawValue }
            resettable = ResettableState()
            activeFaults = ActiveFaults()
            return abandoned.map(Effect.abandon)
        }
    }

    private mutating func link(
        _ handle: ConnectionHandle, to peer: BluetoothAddress, as role: LinkRole, _ parameters: ConnectionParameters,
        at now: Instant
    ) -> [Effect] {
        var isStatusDue = false
        switch role {
        case .central:
            isStatusDue = resettable.initiating?.isStatusDue ?? false
            resettable.initiating = nil
        case .peripheral:
            resettable.advertisingSince = nil
        }
        resettable.links[handle] = ControllerLink(role: role, peer: peer)
        let complete = ControllerEvent.ConnectionComplete(
            status: .success, handle: handle, role: role, peer: peer, interval: parameters.intervalMaximum,
            peripheralLatency: parameters.peripheralLatency, supervisionTimeout: parameters.supervisionTimeout)
        if let delay = activeFaults.takeConnectionDelay() { resettable.late[handle] = now + delay }
        return inOrder(connectionComplete(complete), of: handle, at: now)
            + (isStatusDue ? answer(.leCreateConnection, .commandStatus(.leCreateConnection, .success)) : [])
    }
}

/// A fragment of an L2CAP frame, at most as long as an ACL packet of the sending controller.
public struct ACLFragment: Hashable, Sendable {
    /// True if an L2CAP frame begins with this fragment.
    public var isFirst: Bool
    public var data: [UInt8]

    public init(isFirst: Bool, data: [UInt8]) {
        self.isFirst = isFirst
        self.data = data
    }

    fileprivate func split(to length: Int) -> [ACLFragment] {
        stride(from: 0, to: max(1, data.count), by: max(1, length)).map { start in
            ACLFragment(isFirst: isFirst && start == 0, data: Array(data.dropFirst(start).prefix(max(1, length))))
        }
    }

    /// The fragment as an HCI packet to the host; the packet boundary flag of a first fragment is 0b10.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.2.
    fileprivate func packet(for handle: ConnectionHandle) -> [UInt8] {
        var writer = ByteWriter(capacity: data.count + 5)
        writer.uint8(H4Indicator.aclData.rawValue)
        writer.uint16(handle.rawValue | (isFirst ? 0x2000 : 0x1000))
        writer.uint16(UInt16(truncatingIfNeeded: data.count))
        writer.bytes(data)
        return writer.bytes
    }
}

extension HCIStatus {
    static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
}

// MARK: - State cleared by Reset

extension VirtualController {
    struct ResettableState: Sendable {
        /// LE Meta, bit 61, is disabled by default.
        var eventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
        var leEventMask: UInt64 = 0x1F
        var randomAddress: BluetoothAddress?
        var advertisingParameters = AdvertisingParameters()
        var advertisingData: [UInt8] = []
        var scanResponse: [UInt8] = []
        var advertisingSince: Instant?
        var scanParameters = ScanParameters()
        var scan: Scan?
        var initiating: Initiating?
        var acceptList: [FilterAcceptListEntry] = []
        var links: [ConnectionHandle: ControllerLink] = [:]
        /// When the delayed Connection Complete of a handle will be sent, or was sent.
        var late: [ConnectionHandle: Instant] = [:]
    }

    struct Scan: Sendable {
        static let maximumRemembered = 256

        var since: Instant
        var filtersDuplicates: Bool
        /// The reports already given, without RSSI. Cleared when full, as in real controllers.
        var seen: Set<AdvertisingReport> = []

        func wants(_ report: AdvertisingReport) -> Bool {
            guard filtersDuplicates else { return true }
            var report = report
            report.rssi = nil
            return !seen.contains(report)
        }

        /// - Returns: whether to send the report to the host.
        mutating func remember(_ report: AdvertisingReport) -> Bool {
            guard wants(report) else { return false }
            guard filtersDuplicates else { return true }
            var report = report
            report.rssi = nil
            if seen.count >= Scan.maximumRemembered { seen.removeAll() }
            seen.insert(report)
            return true
        }
    }

    struct Initiating: Sendable {
        var parameters: InitiatingParameters
        var since: Instant
        /// True if the Command Status is delayed until the connection is complete.
        var isStatusDue: Bool
    }

    struct ControllerLink: Sendable {
        var role: LinkRole
        var peer: BluetoothAddress
        var buffersInUse = 0
        var isTerminating = false
        var isUpdating = false
        var isAskedForParameters = false
    }
}

// MARK: - Events

extension VirtualController {
    func isEnabled(_ event: ControllerEvent) -> Bool {
        if let bit = event.eventMaskBit, resettable.eventMask >> bit & 1 == 0 { return false }
        if let bit = event.leEventMaskBit, resettable.leEventMask >> bit & 1 == 0 { return false }
        return true
    }

    func event(_ event: ControllerEvent) -> [Effect] {
        guard !configuration.faults.isSilent, !activeFaults.isWedged, isEnabled(event) else { return [] }
        return [.send(event.packet)]
    }

    /// An event about a link. It never overtakes the link's Connection Complete.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.5 and 7.7.65.1: a handle is assigned by Connection Complete, and
    ///   Disconnection Complete ends that.
    private func event(_ linkEvent: ControllerEvent, of handle: ConnectionHandle, at now: Instant) -> [Effect] {
        inOrder(event(linkEvent), of: handle, at: now)
    }

    private func inOrder(_ effects: [Effect], of handle: ConnectionHandle, at now: Instant) -> [Effect] {
        guard let late = resettable.late[handle], now < late else { return effects }
        return effects.map { if case .send(let packet) = $0 { .sendLater(packet, after: late - now) } else { $0 } }
    }

    /// The response to a command; none if a fault suppresses responses.
    func answer(_ opcode: HCIOpcode, _ answer: ControllerEvent) -> [Effect] {
        activeFaults.isMute || configuration.faults.unansweredCommands.contains(opcode) ? [] : event(answer)
    }

    /// The enhanced event if the host has enabled it, else the simple event.
    func connectionComplete(_ complete: ControllerEvent.ConnectionComplete) -> [Effect] {
        isEnabled(.enhancedConnectionComplete(complete))
            ? event(.enhancedConnectionComplete(complete)) : event(.connectionComplete(complete))
    }
}
