import Flic

/// The simulator's root key, which `simulated:` trusts by default and `tryck simulate` prints.
///
/// The private key is public in this file, so a host that trusts this root accepts a certificate from anyone. A daemon
/// therefore trusts it only for simulated buttons, or if its configuration names the key.
public enum SimulatorRoot {
    /// The Ed25519 public key, 32 octets.
    public static var publicKey: [UInt8] { FlicPeripheral.rootPublicKey(seed: seed) }

    /// The Ed25519 private key, 32 octets: SHA-256 of the text "tryck: the root key of simulated buttons".
    static let seed: [UInt8] = [
        0x7D, 0x93, 0xD3, 0x4D, 0xAD, 0x19, 0x3A, 0x70, 0x03, 0x40, 0xCF, 0xDC, 0xF7, 0xC2, 0xFD, 0x58,
        0xE9, 0x9B, 0x91, 0x4C, 0xC1, 0xD1, 0x70, 0x26, 0x9B, 0x31, 0x6B, 0xEB, 0xC6, 0xB7, 0xA4, 0xAA,
    ]
}
