/// The reason why an export cannot be written or read. The description is the end of a sentence that begins with the
/// file's name.
package enum ExportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case notAnExport
    case newerVersion(Int64)
    /// A member is missing, or has a wrong type or value.
    case badMember(String)
    case tooLong
    case tooManyButtons
    /// The cipher, the key derivation or its parameters are not supported by this version.
    case unknownSeal
    /// The passphrase is wrong, or the file was changed: AES-GCM does not tell the two apart.
    case wrongPassphrase
    /// libcrypto failed, which happens only without memory.
    case noMemory

    package var description: String {
        switch self {
        case .notAnExport: "is not an export; create one with: tryck export FILE"
        case .newerVersion(let version):
            "has format \(version) and this program reads format \(ExportFile.version): import it with a newer tryck"
        case .badMember(let name): "is damaged: \"\(name)\" is missing or wrong"
        case .tooLong: "is longer than \(ExportFile.maximumLength / 1024 / 1024) MiB, the limit for an export"
        case .tooManyButtons: "has more than \(ExportedState.maximumButtonCount) buttons"
        case .unknownSeal: "is encrypted in a way this program does not know: import it with a newer tryck"
        case .wrongPassphrase: "cannot be decrypted: the passphrase is wrong, or the file was changed"
        case .noMemory: "needs up to 128 MiB of free memory to derive the key from the passphrase"
        }
    }
}
