/// The kind of reason why there is no adapter, as far as MQTT and `status` distinguish it. A sentence says the rest.
package enum AdapterFault: String, CaseIterable, Hashable, Sendable {
    /// There is no adapter, or it is in use, switched off or out of reach.
    case absent
    /// The adapter was open and failed; it is being reset.
    case failed
    /// The adapter or the kernel lacks something that Tryck needs.
    case unsupported
    /// The process has no permission to open the adapter.
    case unauthorized
}
