import BluetoothHost
import ESPHome

/// The attribute handles of a button's Flic service, as a proxy names them.
struct ProxyAttributes: Hashable, Sendable {
    var service: FlicService
    /// The value handles of the characteristics for packets to the button and from it.
    var write, notify: UInt32
    /// The Client Characteristic Configuration descriptor of `notify`, which the proxy does not write by itself; `nil` if there
    /// is none.
    var configuration: UInt32?

    /// The attribute whose answer is the last when notifications are enabled.
    var lastOfSubscription: UInt32 { configuration ?? notify }

    /// `nil` if the service is not among those of the button, or lacks a characteristic.
    init?(_ service: FlicService, among services: [GATTService]) {
        func equals(_ one: GATTUUID, _ other: BluetoothUUID) -> Bool {
            switch (one, other) {
            case (.long(let one), .long(let other)): one == other
            case (.short(let one), .short(let other)): one == UInt32(other)
            case (.long, .short), (.short, .long): false
            }
        }
        guard let found = services.first(where: { equals($0.uuid, service.uuid) }),
            let write = found.characteristics.first(where: { equals($0.uuid, service.write) }),
            let notify = found.characteristics.first(where: { equals($0.uuid, service.notify) })
        else { return nil }
        self.service = service
        self.write = write.handle
        self.notify = notify.handle
        configuration = notify.descriptors.first { $0.uuid == .short(0x2902) }?.handle
    }
}
