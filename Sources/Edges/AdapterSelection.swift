package import ButtonModel

/// Chooses which of this machine's Bluetooth controllers to open.
///
/// The kernel numbers adapters in the order in which they appear, so an adapter that is unplugged may return as another
/// hciN. An index is used as it is. An address is looked up for each attempt. `any` is the lowest index that was not
/// refused; after all adapters were refused, they are tried again.
package struct AdapterSelection: Hashable, Sendable {
    package enum Wanted: Hashable, Sendable {
        case any
        case index(UInt16)
        case address(BluetoothAddress)
    }

    private let wanted: Wanted
    private var refused: Set<UInt16> = []

    package init(_ wanted: Wanted) { self.wanted = wanted }

    /// - Parameter adapters: the adapters that the kernel has at present.
    package mutating func next(among adapters: [HCISocketTransport.Adapter]) throws(TransportFailure) -> UInt16 {
        switch wanted {
        case .index(let index):
            return index
        case .address(let address):
            guard let found = adapters.first(where: { $0.address.rawValue == address.rawValue }) else {
                throw .noAdapterWithAddress(address, among: adapters)
            }
            return found.index
        case .any:
            refused.formIntersection(adapters.map(\.index))
            if refused.count == adapters.count { refused = [] }
            guard let first = adapters.map(\.index).filter({ !refused.contains($0) }).min() else {
                throw .noAdapters
            }
            return first
        }
    }

    /// Excludes an adapter that could not be opened or used from the next attempts for `any`.
    package mutating func refuse(_ index: UInt16) { refused.insert(index) }
}
