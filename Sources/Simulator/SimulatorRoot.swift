import Flic

/// The simulator's own root key: what `simulated:` trusts unasked and `tryck simulate` prints.
///
/// The private half is in this file for everybody to read, so trusting it means trusting anyone: a daemon does
/// so for simulated buttons only, or where its configuration names the key.
public enum SimulatorRoot {
    /// 32 octets, an Ed25519 public key.
    public static var publicKey: [UInt8] { FlicPeripheral.rootPublicKey(seed: seed) }

    /// 32 octets: SHA-256 of the text "tryck: the root key of simulated buttons".
    static let seed: [UInt8] = [
        0x7D, 0x93, 0xD3, 0x4D, 0xAD, 0x19, 0x3A, 0x70, 0x03, 0x40, 0xCF, 0xDC, 0xF7, 0xC2, 0xFD, 0x58,
        0xE9, 0x9B, 0x91, 0x4C, 0xC1, 0xD1, 0x70, 0x26, 0x9B, 0x31, 0x6B, 0xEB, 0xC6, 0xB7, 0xA4, 0xAA,
    ]
}
