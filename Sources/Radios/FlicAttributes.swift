import BluetoothHost

/// The attribute handles of a button's Flic service. They are kept from link to link, because discovery takes three
/// round trips, which would delay the press that connects the button.
struct FlicAttributes: Hashable, Sendable {
    var service: FlicService
    /// The value handles of the characteristics for packets to the button and from it.
    var write, notify: AttributeHandle
    /// The Client Characteristic Configuration descriptor of `notify`; `nil` if there is none.
    var configuration: AttributeHandle?

    init?(_ remote: RemoteService) {
        guard let service = FlicService.allCases.first(where: { $0.uuid == remote.uuid }),
            let write = remote.characteristics.first(where: { $0.uuid == service.write }),
            let notify = remote.characteristics.first(where: { $0.uuid == service.notify })
        else { return nil }
        self.service = service
        self.write = write.valueHandle
        self.notify = notify.valueHandle
        configuration = notify.configurationHandle
    }
}
