import BluetoothHost

extension ControllerFailure {
    /// A sentence that says what happened and what the user can do.
    var advice: String {
        switch self {
        case .noAnswer(let opcode):
            "The adapter does not answer (command \(opcode)). Unplug it and plug it in again."
        case .refused(let opcode, let status):
            "The adapter refuses command \(opcode) with status \(status). Try another adapter."
        case .notLowEnergy:
            "The adapter does not support Bluetooth LE, which Flic buttons need. Use another adapter."
        case .hardwareError(let code):
            "The adapter reports a hardware error (\(code))."
        case .stopped(let what):
            "The adapter has stopped working (\(what)). If a reset does not help, unplug it and plug it in again."
        case .malformed(let what):
            "The device at the other end does not speak HCI (\(what)). Check the radio in tryck.yaml."
        }
    }
}
