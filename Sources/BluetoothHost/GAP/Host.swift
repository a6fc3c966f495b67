public import ButtonModel

/// A Bluetooth LE host: HCI packets in, HCI packets out; central and peripheral.
public struct Host: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The ATT_MTU we offer, 23…517.
        public var attMTU: UInt16
        /// What a pending connection asks for.
        public var connectionParameters: ConnectionParameters
        public init(
            attMTU: UInt16 = 140,
            connectionParameters: ConnectionParameters = .init(
                intervalMinimum: 24, intervalMaximum: 40, peripheralLatency: 0, supervisionTimeout: 600)
        ) {
            self.attMTU = attMTU
            self.connectionParameters = connectionParameters
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
        case stopScanning
        /// The whole list of peers to connect to whenever they advertise. While it is not empty one
        /// connection through the filter accept list is pending; it is cancelled and armed again on each
        /// change, and after each connection. A peer that is connected stays in the list and is skipped.
        case setAcceptList([BluetoothAddress])
        case disconnect(ConnectionHandle, reason: HCIStatus)
        case updateConnection(ConnectionHandle, ConnectionParameters)
        case exchangeMTU(ConnectionHandle)
        /// Finds a primary service by UUID, its characteristics and their configuration descriptors.
        case discoverService(ConnectionHandle, UUID)
        /// Writes the Client Characteristic Configuration descriptor (with response).
        case setNotifications(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// Write without response. Kept in order, at most `Host.maximumQueuedFrames` waiting for buffers a link.
        case write(ConnectionHandle, AttributeHandle, [UInt8])

        // Peripheral
        case setServices([LocalService])
        case startAdvertising(Advertisement)
        case stopAdvertising
        /// A Handle Value Notification.
        case notify(ConnectionHandle, AttributeHandle, [UInt8])
        /// Asks the central for other parameters (L2CAP Connection Parameter Update Request).
        case requestParameters(ConnectionHandle, ConnectionParameters)
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
        /// `reason` is the controller's; the link's procedures ended with `.linkLost` before this.
        case disconnected(Connection, reason: HCIStatus)
        case parametersUpdated(ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
        /// The effective ATT_MTU: the smaller of both sides', at least 23.
        case mtuExchanged(ConnectionHandle, attMTU: UInt16)
        case serviceDiscovered(ConnectionHandle, RemoteService)
        case notificationsSet(ConnectionHandle, configuration: AttributeHandle, enabled: Bool)
        /// The procedure under way on this link failed.
        case procedureFailed(ConnectionHandle, ATTFailure)
        case notified(ConnectionHandle, AttributeHandle, [UInt8])

        // Peripheral
        case advertisingStarted
        case advertisingFailed(HCIStatus)
        /// A central wrote a characteristic's value.
        case written(ConnectionHandle, AttributeHandle, [UInt8])
        /// A central switched notifications on or off.
        case subscribed(ConnectionHandle, AttributeHandle, enabled: Bool)
        /// Something the peer or the controller got wrong; counted and logged, nothing more.
        case anomaly(String)
    }

    public static let maximumQueuedFrames = 64

    public init(_ configuration: Configuration = .init()) {}

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }

    /// Where a characteristic's value of `setServices` is: handles as assigned. `nil` when there is none such.
    public func valueHandle(of characteristic: UUID) -> AttributeHandle? { nil }
}
