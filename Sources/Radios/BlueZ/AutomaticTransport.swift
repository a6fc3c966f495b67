/// Decides what the radio `auto` uses: BlueZ if it has a powered adapter, else an adapter that the program opens itself.
///
/// | state   | on                                                    | becomes | and the program         |
/// |---------|-------------------------------------------------------|---------|-------------------------|
/// | asking  | bluetoothd has a powered adapter                      | over    | uses BlueZ              |
/// | asking  | bluetoothd has none, and no adapter was opened before | waiting | waits for `powerTime`   |
/// | asking  | bluetoothd has none otherwise, or does not run        | over    | opens an adapter        |
/// | waiting | an adapter of bluetoothd is powered                   | over    | uses BlueZ              |
/// | waiting | bluetoothd ends, or the time is over                  | over    | opens an adapter        |
///
/// When the machine starts, bluetoothd runs for a moment before it has found and powered its adapters, and an adapter that the program
/// opened in that moment would be lost to all other programs. Once BlueZ was used, it stays in use: a bluetoothd that is being restarted
/// must find its adapter again.
package struct AutomaticTransport: Sendable {
    package enum Step: Hashable, Sendable {
        /// Asks BlueZ for its objects, and passes what the bus reports to `reported`.
        case ask
        /// Goes on with `reported`, and calls `waited` after `powerTime`.
        case wait
        case useBlueZ
        case useAdapter
    }

    /// How long bluetoothd may take to power an adapter.
    package static let powerTime = Duration.seconds(5)

    private var hasUsedBlueZ = false
    private var hasUsedAdapter = false
    private var isWaiting = false

    package init() {}

    /// The radio is to be opened.
    package mutating func opening() -> Step {
        isWaiting = false
        return hasUsedBlueZ ? .useBlueZ : .ask
    }

    /// The bus has reported this after `ask`.
    ///
    /// - Returns: `nil` if this changes nothing.
    package mutating func reported(_ input: BusInput) -> Step? {
        switch input {
        case .objects(_, let objects):
            if BlueZAdapter.find(.any, among: objects)?.isPowered == true { return useBlueZ() }
            isWaiting = !hasUsedAdapter
            return isWaiting ? .wait : .useAdapter
        case .answered, .acquired, .refused: return .useAdapter
        case .interfacesAdded(let path, let interfaces):
            return isWaiting && BlueZAdapter(path: path, interfaces)?.isPowered == true ? useBlueZ() : nil
        case .propertiesChanged(_, BlueZName.adapter, let properties, _):
            return isWaiting && properties["Powered"]?.bool == true ? useBlueZ() : nil
        case .ownerLost: return isWaiting ? .useAdapter : nil
        case .interfacesRemoved, .propertiesChanged, .received, .ended: return nil
        }
    }

    /// `powerTime` is over since `wait`.
    package func waited() -> Step { .useAdapter }

    /// The bus could not be opened, or failed before it answered.
    package func failed() -> Step { .useAdapter }

    /// The program has opened an adapter itself.
    package mutating func adapterOpened() { hasUsedAdapter = true }

    private mutating func useBlueZ() -> Step {
        hasUsedBlueZ = true
        return .useBlueZ
    }
}
