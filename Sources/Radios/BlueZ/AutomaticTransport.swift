/// Decides what the radio `auto` uses: BlueZ if it has a powered adapter, else an adapter that the program opens itself.
///
/// Once BlueZ was used, it stays in use: a bluetoothd that is being restarted must find its adapter again.
package struct AutomaticTransport: Sendable {
    package enum Step: Hashable, Sendable {
        /// Asks BlueZ for its objects, and passes what the bus reports to `reported`.
        case ask
        case useBlueZ
        case useAdapter
    }

    private var hasUsedBlueZ = false

    package init() {}

    /// The radio is to be opened.
    package func opening() -> Step { hasUsedBlueZ ? .useBlueZ : .ask }

    /// The bus has reported this after `ask`.
    ///
    /// - Returns: `nil` if this is not the answer.
    package mutating func reported(_ input: BusInput) -> Step? {
        switch input {
        case .objects(_, let objects):
            guard BlueZAdapter.find(.any, among: objects)?.isPowered == true else { return .useAdapter }
            hasUsedBlueZ = true
            return .useBlueZ
        case .answered, .acquired, .refused: return .useAdapter
        case .ownerLost, .interfacesAdded, .interfacesRemoved, .propertiesChanged, .received, .ended: return nil
        }
    }

    /// The bus could not be opened, or failed before it answered.
    package func failed() -> Step { .useAdapter }
}
