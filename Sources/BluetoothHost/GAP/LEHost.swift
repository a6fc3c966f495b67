public import ButtonModel
import Bytes

/// A Bluetooth LE host, central and peripheral, as a value: HCI packets and commands in, HCI packets and events out.
///
/// | state     | on                                   | becomes   | and we                                       |
/// |-----------|--------------------------------------|-----------|----------------------------------------------|
/// | any       | `transportOpened`                    | settingUp | HCI_Reset                                    |
/// | settingUp | the last answer of `ControllerSetup` | ready     | `.ready`, then the remembered requests       |
/// | settingUp | an answer that prevents set-up       | failed    | `.failed`                                    |
/// | ready     | no answer to an indispensable command, Hardware Error | failed | end all links, `.failed`       |
/// | ready     | a fault found by `ControllerWatch`   | failed    | end all links, `.failed`                     |
/// | any       | `transportClosed`                    | closed    | end all links                                |
///
/// In `closed` and `failed` nothing is sent, and received packets are ignored. Requests to scan, connect, advertise and
/// serve are remembered in every state, and carried out when the controller is ready. A procedure on a link that does
/// not exist fails with `.linkLost`; other commands for such a link do nothing.
///
/// The host is composed of values, none of which calls the layers above it: `CommandQueue`, `ControllerSetup`,
/// `ControllerWatch`, `ACLFlow` and `EarlyData` for the controller; a `LELink` for each connection, with
/// `L2CAPReassembler`, `SignallingChannel`, `ChannelTable`, `GATTClient`, `GATTServer` and `IndicationQueue`;
/// `Initiator` with its `AcceptListRotation`, `Scanner` and `Advertiser` for the radio. Their deadlines share the host's
/// one timer.
public struct LEHost: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The ATT_MTU that we offer, 23…517.
        public var attMTU: UInt16
        /// The limits of credit-based channels that we offer.
        public var channels: ChannelConfiguration
        /// The connection parameters of links that we initiate, until the peripheral asks for others. A short interval makes a
        /// Flic button that comes back ready after 160 ms instead of 420 ms, with the same number of connection events, because
        /// each of its four round trips takes two of them.
        public var connectionParameters: ConnectionParameters
        /// The maximum number of links as a central; `nil`: as many as the controller supports.
        public var maximumLinks: Int?
        /// How long the controller may take to answer HCI_Reset after its transport was opened. A controller that is reached through a
        /// program such as `ssh` answers only when that program has connected.
        public var resetTimeout: Duration

        public init(
            attMTU: UInt16 = 140,
            connectionParameters: ConnectionParameters = .init(
                intervalMinimum: 12, intervalMaximum: 14, peripheralLatency: 0, supervisionTimeout: 600),
            maximumLinks: Int? = nil, resetTimeout: Duration = .seconds(2), channels: ChannelConfiguration = .init()
        ) {
            self.attMTU = attMTU
            self.connectionParameters = connectionParameters
            self.maximumLinks = maximumLinks
            self.resetTimeout = resetTimeout
            self.channels = channels
        }
    }

    public enum Input: Hashable, Sendable {
        /// The transport is open. The host sets the controller up, beginning with HCI_Reset.
        case transportOpened
        /// A complete HCI packet, beginning with its H4 indicator octet.
        case received([UInt8])
        /// The transport is closed. All links end, and nothing is sent until the next `transportOpened`.
        case transportClosed
        case timerFired
        case perform(Command)
    }

    public enum Command: Hashable, Sendable {
        // Central
        case startScanning(active: Bool)
        /// Scans passively with a duty cycle of 10 %, suitable for scanning without time limit.
        case startBackgroundScanning
        case stopScanning
        /// Replaces the list of peers to connect to whenever they advertise. While the list is not empty, one
        /// connection that uses the filter accept list is pending; it is cancelled and created again on each change,
        /// and after each connection. A connected peer stays in the list and is skipped. If the controller's list is
        /// too short, the first peer keeps its place and the others take turns (`acceptListShared`).
        case setAcceptList([BluetoothAddress])
        case disconnect(ConnectionHandle, reason: HCIStatus)
        case updateConnection(ConnectionHandle, ConnectionParameters)
        /// Measures the signal strength of the peer. The result is `rssiRead`, or no event if the controller does not
        /// know. A second command before the result is ignored.
        case readRSSI(ConnectionHandle)
        case exchangeMTU(ConnectionHandle)
        /// Finds a primary service by UUID, its characteristics and their configuration descriptors.
        case discoverService(ConnectionHandle, BluetoothUUID)
        /// Writes the Client Characteristic Configuration descriptor, with response.
        case setNotifications(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        // GATT client: each link runs one procedure at a time and queues `GATTClient.maximumWaitingProcedures`.
        case discoverServices(ConnectionHandle)
        /// Discovers the characteristics of a service reported by `servicesDiscovered`. The result is
        /// `serviceDiscovered`.
        case discoverCharacteristics(ConnectionHandle, RemoteService)
        case discoverDescriptors(ConnectionHandle, RemoteService.Characteristic)
        /// Reads a complete value or descriptor, in several requests if necessary.
        case read(ConnectionHandle, AttributeHandle)
        /// Writes a value or descriptor of at most 512 octets, with response.
        case writeWithResponse(ConnectionHandle, AttributeHandle, [UInt8])
        /// Writes the Client Characteristic Configuration descriptor, with response. Notifications and indications
        /// exclude each other: whichever is not set is switched off.
        case setIndications(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// Writes without response, in order. At most `LEHost.maximumQueuedFrames` wait for the controller's buffers on
        /// each link.
        case write(ConnectionHandle, AttributeHandle, [UInt8])

        // Peripheral
        /// Replaces the services. Subscriptions of connected peers remain for handles below the first handle that
        /// changed; the others are removed, and no `subscribed` event is sent for them.
        case setServices([LocalService])
        case startAdvertising(Advertisement)
        case stopAdvertising
        /// Sends a Handle Value Notification.
        case notify(ConnectionHandle, AttributeHandle, [UInt8])
        /// Sets the value that peers read. It sends no notification.
        case setValue(AttributeHandle, [UInt8])
        /// Sends a Handle Value Indication. One indication awaits its confirmation, and
        /// `IndicationQueue.maximumWaiting` wait.
        case indicate(ConnectionHandle, AttributeHandle, [UInt8])
        /// Asks the central for other connection parameters, by an L2CAP Connection Parameter Update Request.
        case requestParameters(ConnectionHandle, ConnectionParameters)

        // L2CAP credit-based channels
        /// Allows peers to open channels to this SPSM, on all links.
        case listen(SPSM)
        /// Refuses new channels to this SPSM; open channels stay open.
        case stopListening(SPSM)
        case openChannel(ConnectionHandle, SPSM)
        /// Closes a channel and discards its unsent SDUs. A channel that is not open is ignored.
        case closeChannel(ConnectionHandle, L2CAPChannelID)
        /// Queues an SDU. It is accepted unless `sduRefused` follows at once.
        case sendSDU(ConnectionHandle, L2CAPChannelID, [UInt8])
        /// Starts or stops granting credits to the peer. A channel grants them when it opens.
        case setReceiving(ConnectionHandle, L2CAPChannelID, Bool)
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        /// Send this HCI packet, with its H4 indicator, to the controller.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case event(Event)
    }

    public enum Event: Hashable, Sendable {
        /// The controller is set up. Commands given before are carried out now.
        case ready(ControllerInfo)
        /// The controller cannot be used until the transport is opened again.
        case failed(ControllerFailure)
        case advertised(AdvertisingReport)
        case connected(LEConnection)
        case connectionFailed(HCIStatus)
        /// The controller's filter accept list is too short for all wanted peers, and these take turns in it. Reported on each change,
        /// but not at each turn; empty when all wanted peers are listed.
        case acceptListShared(by: [BluetoothAddress])
        /// The number of links has reached the limit of the controller or of `Configuration.maximumLinks`. The host does not
        /// connect to further peers until a link ends.
        case linkLimitReached(links: Int)
        case connectionUpdateFailed(ConnectionHandle, HCIStatus)
        /// The controller refused to scan.
        case scanningFailed(HCIStatus)
        /// A link ended; `disconnected` follows every `connected`. `reason` is the controller's, or `connectionTimeout`
        /// when the controller itself was lost. The link's procedures failed with `.linkLost` before this event.
        case disconnected(LEConnection, reason: HCIStatus)
        case parametersUpdated(
            ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
        /// The signal strength in dBm.
        case rssiRead(ConnectionHandle, Int8)
        /// The effective ATT_MTU: the smaller of both sides' offers, at least 23. Sent after our own exchange, and
        /// after the peer's exchange unless ours is in progress.
        case mtuExchanged(ConnectionHandle, attMTU: UInt16)
        case serviceDiscovered(ConnectionHandle, RemoteService)
        case notificationsSet(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// Sent for each procedure that failed. Results arrive in the order of the commands, except that a procedure
        /// that finds the queue full fails at once.
        case procedureFailed(ConnectionHandle, GATTProcedure, ATTFailure)
        case notified(ConnectionHandle, AttributeHandle, [UInt8])

        // GATT client
        /// Primary services, without their characteristics.
        case servicesDiscovered(ConnectionHandle, [RemoteService])
        /// `of`: the handle of the characteristic's value.
        case descriptorsDiscovered(ConnectionHandle, of: AttributeHandle, [RemoteService.Descriptor])
        case read(ConnectionHandle, AttributeHandle, [UInt8])
        case writeCompleted(ConnectionHandle, AttributeHandle)
        case indicationsSet(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// An indication, which has been confirmed.
        case indicated(ConnectionHandle, AttributeHandle, [UInt8])
        /// The peer changed the services in this range, so handles discovered there are invalid. Sent in place of
        /// `indicated` if the peer's Service Changed characteristic was discovered on this link.
        case servicesChanged(ConnectionHandle, ClosedRange<AttributeHandle>)

        // Peripheral
        case advertisingStarted
        case advertisingFailed(HCIStatus)
        /// A central wrote a characteristic's value.
        case written(ConnectionHandle, AttributeHandle, [UInt8])
        /// A central switched notifications on or off; the handle is that of the characteristic's value.
        case subscribed(ConnectionHandle, AttributeHandle, enabled: Bool)
        case subscribedToIndications(ConnectionHandle, AttributeHandle, enabled: Bool)
        case indicationConfirmed(ConnectionHandle, AttributeHandle)
        case indicationFailed(ConnectionHandle, AttributeHandle, ATTFailure)

        // L2CAP
        case channelOpened(ConnectionHandle, L2CAPChannel)
        case channelOpenFailed(ConnectionHandle, SPSM, ChannelFailure)
        /// A channel closed. `channelClosed` follows every `channelOpened`, before the link's `disconnected`.
        case channelClosed(ConnectionHandle, L2CAPChannelID, ChannelFailure)
        case sduReceived(ConnectionHandle, L2CAPChannelID, [UInt8])
        case sduRefused(ConnectionHandle, L2CAPChannelID, SDURefusal)
        /// Half of the channel's queue is free again, after an SDU was refused because the queue was full.
        case channelWritable(ConnectionHandle, L2CAPChannelID)
        /// A violation of the protocol by the peer or the controller, for the log.
        case anomaly(String)
    }

    /// The maximum number of write commands and notifications that wait on a link.
    public static let maximumQueuedFrames = 64
    /// The maximum number of services that `discoverServices` reports; further services are ignored.
    public static let maximumServices = 64
    /// The maximum number of channels of a link, including channels being opened or closed; further channels are
    /// refused.
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
    var links: [ConnectionHandle: LELink] = [:]
    var scanner = Scanner()
    var initiator: Initiator
    var advertiser = Advertiser()
    var table = AttributeTable()
    // L2CAP
    var listening: Set<SPSM> = []
    /// Links with a channel that has data to send and credits for it.
    var channelSenders: Set<ConnectionHandle> = []
    /// The earliest deadline of all links, cached so that a packet does not iterate over the links.
    var linkDeadline: Instant?
    /// The deadline that the timer is set to.
    private var timer = LogicalTimer()

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
            case .transportClosed: reset(to: .closed)
            }
        updateTimer(&effects, at: now)
        return effects
    }

    /// True if data for a link is queued because the controller's buffers are full, so that the peer has not received
    /// it. `ACLFlow` and `ControllerWatch` bound this time: a link or a controller that takes no data is ended.
    public func holdsBackData(for handle: ConnectionHandle) -> Bool { flow.holdsBack(handle) }

    /// The handle that `setServices` assigned to a characteristic's value; `nil` when there is no such characteristic.
    public func valueHandle(of characteristic: BluetoothUUID) -> AttributeHandle? {
        table.valueHandle(of: characteristic)
    }

    private mutating func timerFired(at now: Instant) -> [Effect] {
        timer.fired()
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
        timer.appendChange(for: deadline, to: &effects)
    }
}
