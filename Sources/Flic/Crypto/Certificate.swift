import ButtonModel
import Cryptography

/// The certificate that proves that the maker made a button: its address and public key, signed with a root key.
///
///     octet  0     64       70            71
///            R, S  address  address type  X25519 public key, 32 octets
///
/// The button changes the two low bits of S (octet 32) before it sends the signature. The value that makes the
/// signature valid is the `variant`, an input of the key derivation on both sides.
///
/// - Source: protocol notes, 5.2.
struct Certificate: Hashable, Sendable {
    /// The Ed25519 signature, 64 octets, as received.
    var signature: [UInt8]
    var addressOctets: [UInt8]
    /// The address type as in HCI: 0 public, 1 random.
    var addressKind: UInt8
    /// The button's X25519 public key, 32 octets.
    var publicKey: [UInt8]

    init(signature: [UInt8], addressOctets: [UInt8], addressKind: UInt8, publicKey: [UInt8]) {
        self.signature = signature
        self.addressOctets = addressOctets
        self.addressKind = addressKind
        self.publicKey = publicKey
    }

    var message: [UInt8] { addressOctets + [addressKind] + publicKey }

    func isIssued(to address: BluetoothAddress) -> Bool {
        addressOctets == address.wireOctets && addressKind == address.kind.rawValue
    }

    /// The variant, 0…3, or `nil` if none of the roots signed this certificate.
    ///
    /// - Parameter roots: Ed25519 public keys, 32 octets each, tried in turn.
    func variant(signedBy roots: [[UInt8]]) -> UInt8? {
        guard signature.count == Curve25519.signatureLength else { return nil }
        for root in roots {
            for variant: UInt8 in 0...3 {
                var candidate = signature
                candidate[Self.variantOffset] = candidate[Self.variantOffset] & ~3 | variant
                if Curve25519.isValid(candidate, of: message, publicKey: root) { return variant }
            }
        }
        return nil
    }

    /// The offset of the low octet of S in the signature.
    private static let variantOffset = 32
}

extension Certificate {
    /// Issues a certificate for a simulated button, together with the variant that the button keeps. `nil` unless both
    /// keys have 32 octets.
    static func issue(
        to address: BluetoothAddress, publicKey: [UInt8], rootSeed: [UInt8]
    ) -> (certificate: Certificate, variant: UInt8)? {
        guard publicKey.count == Curve25519.keyLength else { return nil }
        var certificate = Certificate(
            signature: [], addressOctets: address.wireOctets, addressKind: address.kind.rawValue, publicKey: publicKey)
        guard var signature = Curve25519.sign(certificate.message, seed: rootSeed) else { return nil }
        let variant = signature[variantOffset] & 3
        signature[variantOffset] &= ~3
        certificate.signature = signature
        return (certificate, variant)
    }
}
