import Hub

extension FuzzTarget {
    /// An arbitrary file as an export, and as the decrypted contents of one.
    static let export = FuzzTarget(name: "export") { octets throws(BrokenPromise) in
        if let file = try? ExportFile(decoding: octets), let again = try? file.encoded() {
            try promise("an export is the same after a round trip", (try? ExportFile(decoding: again)) == file)
        }
        guard let state = try? ExportFile.state(fromPlaintext: octets) else { return }
        let again = try? ExportFile.state(fromPlaintext: ExportFile.plaintext(of: state))
        try promise("opened contents are the same after a round trip", again == state)
    }
}
