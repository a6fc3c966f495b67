import CommandSupport
import Platform

/// The passphrase that encrypts an export. Its descriptions never show it.
struct Passphrase: Hashable, Sendable {
    let octets: [UInt8]

    /// In octets.
    static let maximumLength = 1024
    /// In characters, of a new passphrase.
    static let minimumLength = 8

    /// - Parameter isNew: whether an export is to be encrypted with it, so that `minimumLength` applies.
    init(_ octets: [UInt8], isNew: Bool) throws(Failure) {
        guard String(decoding: octets, as: UTF8.self).count >= (isNew ? Self.minimumLength : 1) else {
            throw Failure(
                .usage,
                isNew ? "A passphrase has at least \(Self.minimumLength) characters." : "No passphrase was given.")
        }
        guard octets.count <= Self.maximumLength else {
            throw Failure(.usage, "A passphrase has at most \(Self.maximumLength) octets.")
        }
        self.octets = octets
    }

    /// Reads the first line of a file that no other user can read, or of a pipe from a program that knows the passphrase.
    init(file: String, isNew: Bool) throws(Failure) {
        let text: FileText
        do throws(FileText.Failure) {
            text = try FileText(reading: file, acceptsPipes: true)
        } catch {
            throw Failure(.usage, "\(error). Its first line must be the passphrase.")
        }
        guard !text.isReadableByOthers else {
            throw Failure(.usage, "Other users can read the passphrase in \(file). Run: chmod 600 \(file)")
        }
        var line = Array(text.octets.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        try self.init(line, isNew: isNew)
    }
}

extension Passphrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
