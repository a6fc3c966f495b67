import ButtonModel

/// What a button shows to prove that its maker made it: its address and key, signed by a root key.
///
///     octet  0     64       70            71
///            R, S  address  address type  X25519 public key, 32 octets
///
/// The two low bits of S (octet 32) are not those of the signature: a button keeps them to itself. The ones that make
/// the signature valid are its `variant`, and both sides put it into the key derivation.
///
/// - Source: protocol notes, 5.2.
struct Certificate: Hashable, Sendable {
    /// Ed25519, 64 octets as sent.
    var signature: [UInt8]
    var addressOctets: [UInt8]
    /// As HCI writes it: 0 public, 1 random.
    var addressKind: UInt8
    /// X25519, 32 octets.
    var publicKey: [UInt8]

    init(signature: [UInt8], addressOctets: [UInt8], addressKind: UInt8, publicKey: [UInt8]) {
        self.signature = signature
        self.addressOctets = addressOctets
        self.addressKind = addressKind
        self.publicKey = publicKey
    }

    var message: [UInt8] { addressOctets + [addressKind] + publicKey }

    func names(_ address: BluetoothAddress) -> Bool {
        addressOctets == address.wireOctets && addressKind == address.kind.rawValue
    }

    /// 0…3, or `nil` when none of the roots signed this.
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

    /// Where the low octet of S lies in the signature.
    private static let variantOffset = 32
}

extension Certificate {
    /// Makes what a button's maker makes: the certificate as the button sends it, and the variant it keeps to itself.
    /// `nil` unless both keys have 32 octets.
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
