public import ButtonModel
import Bytes

/// A Bluetooth LE host: HCI packets in, HCI packets out; central and peripheral.
///
/// | state     | on                                   | becomes   | and we                                       |
/// |-----------|--------------------------------------|-----------|----------------------------------------------|
/// | any       | `transportOpened`                    | settingUp | HCI_Reset                                    |
/// | settingUp | the last answer of `ControllerSetup` | ready     | `.ready`, then what was asked for meanwhile  |
/// | settingUp | an answer it cannot go on with       | failed    | `.failed`                                    |
/// | ready     | silence on a needed command, Hardware Error | failed | end all links, `.failed`                 |
/// | ready     | what `ControllerWatch` gives up      | failed    | end all links, `.failed`                     |
/// | any       | `transportClosed`                    | closed    | end all links                                |
///
/// In `closed` and `failed` nothing is sent; packets are ignored. What is to be scanned for, connected to,
/// advertised and served is remembered in every state and taken up whenever the controller is ready; a
/// procedure on a link that is not there fails with `.linkLost`, and other commands for it do nothing.
///
/// The layers below do the work, each a value of its own, and know nothing of those above them:
/// `CommandQueue`, `ControllerSetup`, `ControllerWatch`, `ACLFlow` and `EarlyData` for the controller; a `Link` for
/// each connection, with `L2CAPReassembler`, `SignallingChannel`, `ChannelTable`, `GATTClient`, `GATTServer` and
/// `IndicationQueue`; `Initiator` with its `AcceptListTurns`, `Scanner` and `Advertiser` for the radio. Their deadlines
/// share the host's one timer.
public struct Host: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The ATT_MTU we offer, 23…517.
        public var attMTU: UInt16
        /// What we take on credit-based channels.
        public var channels: ChannelConfiguration
        /// What a pending connection asks for.
        public var connectionParameters: ConnectionParameters
        /// The links we hold at most as a central. `nil`: as many as the controller gives.
        public var maximumLinks: Int?

        public init(
            attMTU: UInt16 = 140,
            connectionParameters: ConnectionParameters = .init(
                intervalMinimum: 24, intervalMaximum: 40, peripheralLatency: 0, supervisionTimeout: 600),
            maximumLinks: Int? = nil, channels: ChannelConfiguration = .init()
        ) {
            self.attMTU = attMTU
            self.connectionParameters = connectionParameters
            self.maximumLinks = maximumLinks
            self.channels = channels
        }
    }

    public enum Input: Hashable, Sendable {
        /// The transport is open: set the controller up, from HCI_Reset on.
        case transportOpened
        /// One whole HCI packet, beginning with its H4 indicator octet.
        case received([UInt8])
        /// All links are gone; nothing is sent until the next `transportOpened`.
        case transportClosed
        case timerFired
        case perform(Command)
    }

    public enum Command: Hashable, Sendable {
        // Central
        case startScanning(active: Bool)
        /// Passively and a tenth of the time, for as long as it takes.
        case startBackgroundScanning
        case stopScanning
        /// The whole list of peers to connect to whenever they advertise. While it is not empty one
        /// connection through the filter accept list is pending; it is cancelled and armed again on each
        /// change, and after each connection. A peer that is connected stays in the list and is skipped. Where the
        /// controller has room for fewer, the first keeps its place and the others take turns (`acceptListTurned`).
        case setAcceptList([BluetoothAddress])
        case disconnect(ConnectionHandle, reason: HCIStatus)
        case updateConnection(ConnectionHandle, ConnectionParameters)
        /// How strongly the peer is heard now: `rssiRead`, or nothing where the controller does not know. Asked again
        /// before it has answered, it answers once.
        case readRSSI(ConnectionHandle)
        case exchangeMTU(ConnectionHandle)
        /// Finds a primary service by UUID, its characteristics and their configuration descriptors.
        case discoverService(ConnectionHandle, UUID)
        /// Writes the Client Characteristic Configuration descriptor (with response).
        case setNotifications(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        // GATT client: one procedure at a time on each link, `GATTClient.maximumWaitingProcedures` wait.
        case discoverServices(ConnectionHandle)
        /// Of a service that `servicesDiscovered` told of; answered as `discoverService`.
        case discoverCharacteristics(ConnectionHandle, RemoteService)
        case discoverDescriptors(ConnectionHandle, RemoteService.Characteristic)
        /// Reads a value or a descriptor to its end.
        case read(ConnectionHandle, AttributeHandle)
        /// Writes a value or a descriptor, at most 512 octets.
        case writeWithResponse(ConnectionHandle, AttributeHandle, [UInt8])
        /// As `setNotifications`; what is not set is switched off.
        case setIndications(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// Write without response. Kept in order, at most `Host.maximumQueuedFrames` waiting for buffers a link.
        case write(ConnectionHandle, AttributeHandle, [UInt8])

        // Peripheral
        /// What a link's peer had switched on stays on, up to the first handle that means something else now; from
        /// there on it is off, without `subscribed`.
        case setServices([LocalService])
        case startAdvertising(Advertisement)
        case stopAdvertising
        /// A Handle Value Notification.
        case notify(ConnectionHandle, AttributeHandle, [UInt8])
        /// What reads answer from now on. Nobody is notified.
        case setValue(AttributeHandle, [UInt8])
        /// A Handle Value Indication: one awaits its confirmation, `IndicationQueue.maximumWaiting` wait.
        case indicate(ConnectionHandle, AttributeHandle, [UInt8])
        /// Asks the central for other parameters (L2CAP Connection Parameter Update Request).
        case requestParameters(ConnectionHandle, ConnectionParameters)

        // L2CAP credit-based channels
        /// Peers may open channels to it, on all links.
        case listen(SPSM)
        /// Channels that are open stay open.
        case stopListening(SPSM)
        case openChannel(ConnectionHandle, SPSM)
        /// Drops what waits to be sent. A channel that is not open is left as it is.
        case closeChannel(ConnectionHandle, L2CAPChannelID)
        /// Taken unless `sduRefused` says otherwise at once.
        case sendSDU(ConnectionHandle, L2CAPChannelID, [UInt8])
        /// Whether the peer is given new credits, as it is from the beginning.
        case setReceiving(ConnectionHandle, L2CAPChannelID, Bool)
    }

    public enum Effect: Hashable, Sendable {
        /// One HCI packet to the controller, with its H4 indicator.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case event(Event)
    }

    public enum Event: Hashable, Sendable {
        /// Set-up is done. Commands given before were kept.
        case ready(ControllerInfo)
        /// The controller cannot be used; the transport has to be opened again.
        case failed(ControllerFailure)
        case advertised(AdvertisingReport)
        case connected(Connection)
        case connectionFailed(HCIStatus)
        /// The wanted peers that the controller does not look for now: its accept list is shorter than ours and they
        /// wait for their turn. Empty when none waits any more. Said on each change.
        case acceptListTurned(waiting: [BluetoothAddress])
        /// The controller, or `Configuration.maximumLinks`, allows no link beyond these. Nothing is pending until one
        /// of them ends.
        case linkLimitReached(links: Int)
        case connectionUpdateFailed(ConnectionHandle, HCIStatus)
        /// The controller refuses to scan.
        case scanningFailed(HCIStatus)
        /// `reason` is the controller's, or `connectionTimeout` when the controller itself was lost; the link's
        /// procedures ended with `.linkLost` before this. Each `connected` is followed by one of these.
        case disconnected(Connection, reason: HCIStatus)
        case parametersUpdated(
            ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
        /// dBm.
        case rssiRead(ConnectionHandle, Int8)
        /// The effective ATT_MTU: the smaller of both sides', at least 23. Comes after our own exchange, and after
        /// the peer's when we have none under way.
        case mtuExchanged(ConnectionHandle, attMTU: UInt16)
        case serviceDiscovered(ConnectionHandle, RemoteService)
        case notificationsSet(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// One for each procedure that did not succeed, in the order they were asked for, except that one for
        /// which there is no room fails at once.
        case procedureFailed(ConnectionHandle, GATTProcedure, ATTFailure)
        case notified(ConnectionHandle, AttributeHandle, [UInt8])

        // GATT client
        /// Without their characteristics.
        case servicesDiscovered(ConnectionHandle, [RemoteService])
        /// The handle is the characteristic's value's.
        case descriptorsDiscovered(ConnectionHandle, of: AttributeHandle, [RemoteService.Descriptor])
        case read(ConnectionHandle, AttributeHandle, [UInt8])
        case writeCompleted(ConnectionHandle, AttributeHandle)
        case indicationsSet(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// Confirmed when this is handed on.
        case indicated(ConnectionHandle, AttributeHandle, [UInt8])
        /// What was discovered in these handles counts no more. Comes in the place of `indicated`, when the peer's
        /// Service Changed characteristic was discovered on this link.
        case servicesChanged(ConnectionHandle, ClosedRange<AttributeHandle>)

        // Peripheral
        case advertisingStarted
        case advertisingFailed(HCIStatus)
        /// A central wrote a characteristic's value.
        case written(ConnectionHandle, AttributeHandle, [UInt8])
        /// A central switched notifications on or off; the handle is the characteristic's value's.
        case subscribed(ConnectionHandle, AttributeHandle, enabled: Bool)
        case subscribedToIndications(ConnectionHandle, AttributeHandle, enabled: Bool)
        case indicationConfirmed(ConnectionHandle, AttributeHandle)
        case indicationFailed(ConnectionHandle, AttributeHandle, ATTFailure)

        // L2CAP
        case channelOpened(ConnectionHandle, Channel)
        case channelOpenFailed(ConnectionHandle, SPSM, ChannelFailure)
        /// Each `channelOpened` is followed by one of these, before its link's `disconnected`.
        case channelClosed(ConnectionHandle, L2CAPChannelID, ChannelFailure)
        case sduReceived(ConnectionHandle, L2CAPChannelID, [UInt8])
        case sduRefused(ConnectionHandle, L2CAPChannelID, SDURefusal)
        /// Half of the queue is free, after an SDU found no room.
        case channelWritable(ConnectionHandle, L2CAPChannelID)
        /// Something the peer or the controller got wrong; counted and logged, nothing more.
        case anomaly(String)
    }

    public static let maximumQueuedFrames = 64
    /// Of `discoverServices`; the rest is not looked at.
    public static let maximumServices = 64
    /// Channels of a link, with those that are being opened or closed. More are refused.
    public static let maximumChannels = 8

    enum State: Hashable, Sendable {
        case closed
        case settingUp(ControllerSetup)
        case ready
        case failed
    }

    let configuration: Configuration
    var state = State.closed
    var commands = CommandQueue()
    var flow = ACLFlow(packetLength: 0, bufferCount: 0)
    var early = EarlyData()
    var watch = ControllerWatch()
    var links: [ConnectionHandle: Link] = [:]
    var scanner = Scanner()
    var initiator: Initiator
    var advertiser = Advertiser()
    var table = AttributeTable()
    // L2CAP
    var listening: Set<SPSM> = []
    /// Links with a channel that has something to send and credits for it.
    var channelSenders: Set<ConnectionHandle> = []
    /// The earliest of the links' deadlines, kept so that a packet costs no walk over all links.
    var linkDeadline: Instant?
    /// What the one timer is set to.
    private var timer: Instant?

    public init(_ configuration: Configuration = .init()) {
        var configuration = configuration
        configuration.attMTU = min(max(configuration.attMTU, ATTPDU.minimumMTU), ATTPDU.maximumMTU)
        configuration.channels = configuration.channels.limited
        self.configuration = configuration
        initiator = Initiator(
            parameters: configuration.connectionParameters, maximumLinks: configuration.maximumLinks)
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects =
            switch input {
            case .received(let octets): receive(octets, at: now)
            case .perform(let command): perform(command, at: now)
            case .timerFired: timerFired(at: now)
            case .transportOpened: open(at: now)
            case .transportClosed: lose(becoming: .closed)
            }
        updateTimer(&effects, at: now)
        return effects
    }

    /// Where a characteristic's value of `setServices` is: handles as assigned. `nil` when there is none such.
    public func valueHandle(of characteristic: UUID) -> AttributeHandle? { table.valueHandle(of: characteristic) }

    private mutating func timerFired(at now: Instant) -> [Effect] {
        // A timer that has fired is not set any more.
        timer = nil
        var effects = carryOut(commands.timerFired(at: now), at: now)
        if state == .ready { effects += radioTimerFired(at: now) }
        if state == .ready { effects += watchTimerFired(at: now) }
        guard let linkDeadline, now >= linkDeadline else { return effects }
        for handle in links.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            effects += onLink(handle, at: now) { $0.timerFired(at: now) } ?? []
        }
        return effects
    }

    private mutating func updateTimer(_ effects: inout [Effect], at now: Instant) {
        watch.setBusy(
            state == .ready && (!links.isEmpty || initiator.isBusy || scanner.isOn || advertiser.isOn), at: now)
        var deadline: Instant?
        for next in [
            commands.deadline, initiator.deadline, scanner.deadline, linkDeadline, flow.deadline, watch.deadline,
        ] {
            guard let next else { continue }
            deadline = min(deadline ?? next, next)
        }
        guard deadline != timer else { return }
        timer = deadline
        effects.append(deadline.map { .setTimer($0) } ?? .cancelTimer)
    }
}
