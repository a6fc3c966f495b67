public import BluetoothHost
public import ButtonModel

/// The central: scans for a receiver, and sends it one picture over as many links as are needed.
public struct PictureSender: Application, Sendable {
    /// The transfer over the present link; it ends when the link is lost.
    private struct Transfer: Sendable {
        var link: ConnectionHandle
        var handles: [BluetoothUUID: AttributeHandle] = [:]
        /// How many octets the receiver already has or were handed to the channel.
        var sent: Int?
        var channel: L2CAPChannel?
    }

    public var desk: HostDesk
    private let picture: [UInt8]
    private let receipt: [UInt8]
    private var transfer: Transfer?

    /// The receiver's description of itself.
    public private(set) var details: String?
    /// The offset in the picture at which each transfer began.
    public private(set) var beginnings: [Int] = []
    public private(set) var lostLinks = 0
    public private(set) var isDone = false
    public private(set) var anomalies: [String] = []

    public init(_ configuration: LEHost.Configuration, picture: [UInt8], name: String) {
        desk = HostDesk(LEHost(configuration))
        self.picture = picture
        receipt = PictureService.count(picture.count) + Array(name.utf8)
    }

    public mutating func happened(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .ready:
            perform(.startScanning(active: false), at: now)
        case .advertised(let report):
            guard ADStructure.parse(report.data).serviceUUIDs.contains(PictureService.uuid) else { break }
            perform(.stopScanning, at: now)
            // From here on the controller connects to the receiver whenever it advertises.
            perform(.setAcceptList([report.address]), at: now)
        case .connected(let connection):
            transfer = Transfer(link: connection.handle)
            perform(.exchangeMTU(connection.handle), at: now)
            perform(.discoverService(connection.handle, PictureService.uuid), at: now)
        case .serviceDiscovered(let link, let service):
            introduce(on: link, service, at: now)
        case .read(_, let attribute, let value):
            take(value, of: attribute, at: now)
        case .channelOpened(_, let channel):
            transfer?.channel = channel
            beginnings.append(transfer?.sent ?? 0)
            sendMore(at: now)
        case .channelWritable:
            sendMore(at: now)
        case .indicated(_, let attribute, let value) where attribute == transfer?.handles[PictureService.progress]:
            if PictureService.count(decoding: value) == picture.count { finish(at: now) }
        case .disconnected:
            transfer = nil
            if !isDone { lostLinks += 1 }
        case .failed(let failure):
            anomalies.append("\(failure)")
        case .anomaly(let text):
            anomalies.append(text)
        case .procedureFailed(_, let procedure, let failure) where failure != .linkLost:
            anomalies.append("\(procedure): \(failure)")
        default:
            break
        }
    }

    private mutating func introduce(on link: ConnectionHandle, _ service: RemoteService, at now: Instant) {
        for characteristic in service.characteristics {
            transfer?.handles[characteristic.uuid] = characteristic.valueHandle
            if characteristic.uuid == PictureService.progress, let handle = characteristic.configurationHandle {
                perform(.setIndications(link, configuration: handle, enabled: true), at: now)
            }
        }
        guard let handles = transfer?.handles, let details = handles[PictureService.details],
            let receipt = handles[PictureService.receipt], let progress = handles[PictureService.progress],
            let psm = handles[PictureService.psm]
        else { return }
        perform(.read(link, details), at: now)
        perform(.writeWithResponse(link, receipt, self.receipt), at: now)
        perform(.read(link, progress), at: now)
        perform(.read(link, psm), at: now)
    }

    private mutating func take(_ value: [UInt8], of attribute: AttributeHandle, at now: Instant) {
        guard let transfer else { return }
        switch attribute {
        case transfer.handles[PictureService.details]:
            details = String(decoding: value, as: UTF8.self)
        case transfer.handles[PictureService.progress]:
            self.transfer?.sent = PictureService.count(decoding: value)
        case transfer.handles[PictureService.psm]:
            guard transfer.sent != picture.count else { return finish(at: now) }
            let number = UInt16(clamping: PictureService.count(decoding: value + [0, 0]) ?? 0)
            perform(.openChannel(transfer.link, SPSM(rawValue: number)), at: now)
        default:
            break
        }
    }

    /// Sends as much as the channel takes now.
    private mutating func sendMore(at now: Instant) {
        guard let transfer, let channel = transfer.channel, var sent = transfer.sent else { return }
        while sent < picture.count {
            let sdu = Array(picture.dropFirst(sent).prefix(Int(channel.peerMTU)))
            let events = perform(.sendSDU(transfer.link, channel.id, sdu), at: now)
            if events.contains(.sduRefused(transfer.link, channel.id, .queueFull)) { break }
            sent += sdu.count
        }
        self.transfer?.sent = sent
    }

    private mutating func finish(at now: Instant) {
        isDone = true
        guard let transfer else { return }
        perform(.setAcceptList([]), at: now)
        if let channel = transfer.channel { perform(.closeChannel(transfer.link, channel.id), at: now) }
        perform(.disconnect(transfer.link, reason: .remoteUserTerminated), at: now)
    }
}
