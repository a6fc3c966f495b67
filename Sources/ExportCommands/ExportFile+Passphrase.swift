import CommandSupport
import Hub
import Platform
import Setup

extension ExportFile {
    /// - Parameter passphrase: `nil` for a file that is not encrypted.
    static func octets(of state: ExportedState, _ passphrase: Passphrase?) throws(ExportFailure) -> [UInt8] {
        guard let passphrase else { return try ExportFile.clear(state).encoded() }
        let entropy = SystemEnvironment.randomOctets(ExportSeal.saltLength + ExportSeal.nonceLength)
        guard let seal = ExportSeal(entropy: entropy) else { preconditionFailure("as many octets as it takes") }
        return try ExportCipher.seal(state, with: seal, passphrase: passphrase.octets).encoded()
    }

    func state(_ passphrase: Passphrase?) throws(ExportFailure) -> ExportedState {
        switch self {
        case .clear(let state): state
        case .sealed(let seal, let ciphertext):
            try ExportCipher.open(ciphertext, with: seal, passphrase: passphrase?.octets ?? [])
        }
    }

    var isClear: Bool { if case .clear = self { true } else { false } }

    /// - Parameter file: the path of a file in the clear that was just written or read.
    static func warn(of file: String) {
        Output.standardError.write(
            line: "tryck: \(file) is not encrypted, and contains the keys of the buttons.")
    }
}
