public import BluetoothHost
public import ButtonModel
import Bytes

/// An HCI LE controller made of bytes: the other end of `BluetoothHost`.
///
/// It is strict about its host. A command with a wrong length or a parameter out of range is refused with 0x12,
/// one that comes in the wrong state with 0x0C, one it does not know with 0x01; LE events stay masked until the
/// host unmasks them; ACL data beyond the buffers is lost. What a real controller could only suffer from is also
/// told as a `violation`.
///
/// What it does on the air is for `Air` to bring about: this value says what it wants (`advertiser`, `listener`),
/// and `Air` tells it what came of that.
///
/// | activity    | begins with             | ends with                                                  |
/// |-------------|-------------------------|------------------------------------------------------------|
/// | advertising | advertising enable      | advertising disable, a link, Reset                         |
/// | scanning    | scan enable             | scan disable, Reset                                        |
/// | initiating  | Create Connection       | a link (0x00), Cancel (0x00, then Connection Complete 0x02), Reset |
/// | link        | a meeting on the air    | Disconnect, the peer's Disconnect, supervision timeout, Reset |
///
/// Everything but the configuration and the faults is lost at Reset, and those when the power goes off.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E.
public struct VirtualController: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var address: BluetoothAddress
        /// Octets of one ACL data packet, in either direction.
        public var aclDataLength: UInt16
        public var aclBufferCount: UInt8
        /// LE Read Buffer Size answers 0, and LE data uses the buffers of Read Buffer Size.
        public var sharesBuffers: Bool
        /// Entries of the filter accept list; 0: it takes none.
        public var acceptListSize: UInt8
        public var maximumLinks: Int
        /// The Connection Parameters Request procedure, by which a peripheral's controller asks by itself.
        public var supportsParameterRequests: Bool
        /// Else one refuses while the other goes on.
        public var scansWhileInitiating: Bool
        /// Else its features say that it has no LE.
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

    /// What controllers in the field get wrong. Nothing is, unless asked for.
    public struct Faults: Hashable, Sendable {
        /// Takes everything and never answers.
        public var isSilent = false
        /// Answered with 0x01 although they belong to every LE controller.
        public var unknownCommands: Set<HCIOpcode> = []
        /// Carried out and never answered.
        public var unansweredCommands: Set<HCIOpcode> = []
        /// Unknown commands are answered by Command Complete instead of Command Status.
        public var completesUnknownCommands = false
        /// Connection Complete comes before the Command Status of Create Connection.
        public var reportsConnectionBeforeCommandStatus = false

        public init() {}
    }

    public enum Input: Hashable, Sendable {
        /// One HCI packet from the host, with its H4 indicator.
        case received([UInt8])
        /// An advertisement or a scan response on the air.
        case heard(AdvertisingReport)
        /// An advertiser and an initiator met. `handle` is free at this controller.
        case linked(ConnectionHandle, peer: BluetoothAddress, role: LinkRole, ConnectionParameters)
        /// The peer has the oldest ACL packet in the buffers of this link.
        case delivered(ConnectionHandle)
        /// The peer sent this.
        case arrived(ConnectionHandle, ACLFragment)
        /// How strongly the peer was heard last, in dBm. Answers `measure`.
        case measured(ConnectionHandle, rssi: Int8)
        case parametersUpdated(ConnectionHandle, HCIStatus, ConnectionParameters)
        /// The peripheral's controller asks for other parameters.
        case parametersRequested(ConnectionHandle, ConnectionParameters)
        case unlinked(ConnectionHandle, reason: HCIStatus)
        case fault(ControllerFault)
        /// The power was off and is on again: everything is forgotten, faults too.
        case powerCycled
    }

    public enum Effect: Hashable, Sendable {
        /// One HCI packet to the host, with its H4 indicator.
        case send([UInt8])
        /// The same, later. Lost when the power goes off before.
        case sendLater([UInt8], after: Duration)
        case transmit(ConnectionHandle, ACLFragment)
        /// The host ended this link; both ends hear of it as `unlinked`.
        case terminate(ConnectionHandle, reason: HCIStatus)
        /// The link is forgotten at this end and its peer is not told.
        case abandon(ConnectionHandle)
        /// How strong is the signal of this link's peer?
        case measure(ConnectionHandle)
        /// The central sets these parameters.
        case updateParameters(ConnectionHandle, ConnectionParameters)
        /// The peripheral asks the central's controller for these.
        case requestParameters(ConnectionHandle, ConnectionParameters)
        /// The central's host does not want what the peripheral asked for.
        case refuseParameters(ConnectionHandle, reason: HCIStatus)
        /// The host did what no host may.
        case violation(String)
    }

    public let configuration: Configuration
    var volatile = Volatile()
    var ailments = Ailments()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .received(let packet):
            return receive(packet, at: now)

        case .heard(let report):
            guard volatile.scan?.remember(report) == true else { return [] }
            return event(.advertisingReport(report))

        case .linked(let handle, let peer, let role, let parameters):
            return link(handle, to: peer, as: role, parameters)

        case .delivered(let handle):
            guard let link = volatile.links[handle], link.buffersInUse > 0 else { return [] }
            volatile.links[handle]?.buffersInUse -= 1
            guard !ailments.losesPacket() else { return [] }
            return event(.numberOfCompletedPackets(handle: handle, count: 1))

        case .arrived(let handle, let fragment):
            guard volatile.links[handle] != nil, !ailments.isWedged else { return [] }
            return fragment.split(to: Int(configuration.aclDataLength)).map { .send($0.packet(for: handle)) }

        case .measured(let handle, let rssi):
            return measured(handle, rssi: rssi)

        case .parametersUpdated(let handle, let status, let parameters):
            guard volatile.links[handle] != nil else { return [] }
            volatile.links[handle]?.isUpdating = false
            return event(
                .connectionUpdateComplete(
                    status, handle: handle, interval: parameters.intervalMaximum,
                    peripheralLatency: parameters.peripheralLatency,
                    supervisionTimeout: parameters.supervisionTimeout))

        case .parametersRequested(let handle, let parameters):
            guard let link = volatile.links[handle], link.role == .central else { return [] }
            let request = ControllerEvent.remoteConnectionParameterRequest(handle: handle, parameters)
            guard lets(request) else {
                return [.refuseParameters(handle, reason: .unsupportedRemoteFeature)]
            }
            volatile.links[handle]?.isAskedForParameters = true
            return event(request)

        case .unlinked(let handle, let reason):
            guard volatile.links.removeValue(forKey: handle) != nil else { return [] }
            return event(.disconnectionComplete(handle: handle, reason: reason.rawValue))

        case .fault(let fault):
            ailments.add(fault)
            if case .hardwareError(let code) = fault { return event(.hardwareError(code)) }
            return []

        case .powerCycled:
            let abandoned = volatile.links.keys.sorted { $0.rawValue < $1.rawValue }
            volatile = Volatile()
            ailments = Ailments()
            return abandoned.map(Effect.abandon)
        }
    }

    private mutating func link(
        _ handle: ConnectionHandle, to peer: BluetoothAddress, as role: LinkRole, _ parameters: ConnectionParameters
    ) -> [Effect] {
        var isStatusDue = false
        switch role {
        case .central:
            isStatusDue = volatile.initiating?.isStatusDue ?? false
            volatile.initiating = nil
        case .peripheral:
            volatile.advertisingSince = nil
        }
        volatile.links[handle] = Link(role: role, peer: peer)
        let complete = ControllerEvent.ConnectionComplete(
            status: .success, handle: handle, role: role, peer: peer, interval: parameters.intervalMaximum,
            peripheralLatency: parameters.peripheralLatency, supervisionTimeout: parameters.supervisionTimeout)
        var told = connectionComplete(complete)
        if let delay = ailments.takeConnectionDelay() {
            told = told.map { if case .send(let packet) = $0 { .sendLater(packet, after: delay) } else { $0 } }
        }
        return told
            + (isStatusDue ? answer(.leCreateConnection, .commandStatus(.leCreateConnection, .success)) : [])
    }
}

/// A piece of a link's data, at most one ACL packet of either controller.
public struct ACLFragment: Hashable, Sendable {
    /// An L2CAP frame begins here.
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

    /// As the host reads it: a first fragment has the packet boundary flag 0b10.
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

// MARK: - What Reset forgets

extension VirtualController {
    struct Volatile: Sendable {
        /// Without LE Meta, bit 61: a host has to ask for it.
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
        var links: [ConnectionHandle: Link] = [:]
    }

    struct Scan: Sendable {
        static let maximumRemembered = 256

        var since: Instant
        var filtersDuplicates: Bool
        /// Reports already made, without their signal strength. Emptied when full, as controllers do.
        var seen: Set<AdvertisingReport> = []

        func wants(_ report: AdvertisingReport) -> Bool {
            guard filtersDuplicates else { return true }
            var report = report
            report.rssi = nil
            return !seen.contains(report)
        }

        /// - Returns: whether the host is to hear of it.
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
        /// The Command Status is held back until the connection is there.
        var isStatusDue: Bool
    }

    struct Link: Sendable {
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
    func lets(_ event: ControllerEvent) -> Bool {
        if let bit = event.eventMaskBit, volatile.eventMask >> bit & 1 == 0 { return false }
        if let bit = event.leEventMaskBit, volatile.leEventMask >> bit & 1 == 0 { return false }
        return true
    }

    func event(_ event: ControllerEvent) -> [Effect] {
        guard !configuration.faults.isSilent, !ailments.isWedged, lets(event) else { return [] }
        return [.send(event.packet)]
    }

    /// The answer to a command, unless the controller is one that forgets to answer it.
    func answer(_ opcode: HCIOpcode, _ answer: ControllerEvent) -> [Effect] {
        ailments.isMute || configuration.faults.unansweredCommands.contains(opcode) ? [] : event(answer)
    }

    /// The enhanced form where the host has unmasked it, never both.
    func connectionComplete(_ complete: ControllerEvent.ConnectionComplete) -> [Effect] {
        lets(.enhancedConnectionComplete(complete))
            ? event(.enhancedConnectionComplete(complete)) : event(.connectionComplete(complete))
    }
}
