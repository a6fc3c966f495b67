public import BluetoothHost
public import ButtonModel

/// The peripheral: advertises while no central is connected, and keeps the received octets when a link is lost.
public struct PictureReceiver: Application, Sendable {
    public var desk: HostDesk
    private let advertisement: Advertisement
    private let details: String
    private let spsm = SPSM(rawValue: 0x0081)

    /// The receipt as it was written. The received octets are kept as long as the same receipt is written again.
    public private(set) var receipt: [UInt8] = []
    public private(set) var received: [UInt8] = []
    public private(set) var links = 0
    public private(set) var anomalies: [String] = []
    public private(set) var isConnected = false

    public init(_ configuration: LEHost.Configuration, name: String, details: String) {
        desk = HostDesk(LEHost(configuration))
        advertisement = PictureService.advertisement(name)
        self.details = details
    }

    private var length: Int? { PictureService.count(decoding: receipt) }
    public var isComplete: Bool { received.count == length }

    public mutating func happened(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .ready:
            perform(.setServices(PictureService.service(details: details, spsm: spsm)), at: now)
            perform(.listen(spsm), at: now)
            perform(.startAdvertising(advertisement), at: now)
        case .connected:
            links += 1
            isConnected = true
        case .disconnected:
            isConnected = false
            perform(.startAdvertising(advertisement), at: now)
        case .written(_, let attribute, let value) where attribute == desk.host.valueHandle(of: PictureService.receipt):
            if value != receipt { received = [] }
            receipt = value
            showProgress(at: now)
        case .sduReceived(let link, _, let part):
            received += part
            showProgress(at: now)
            guard isComplete, let progress = desk.host.valueHandle(of: PictureService.progress) else { break }
            perform(.indicate(link, progress, PictureService.count(received.count)), at: now)
        case .advertisingFailed(let status):
            anomalies.append("advertising was refused: \(status)")
        case .failed(let failure):
            anomalies.append("\(failure)")
        case .anomaly(let text):
            anomalies.append(text)
        default:
            break
        }
    }

    private mutating func showProgress(at now: Instant) {
        guard let progress = desk.host.valueHandle(of: PictureService.progress) else { return }
        perform(.setValue(progress, PictureService.count(received.count)), at: now)
    }
}
