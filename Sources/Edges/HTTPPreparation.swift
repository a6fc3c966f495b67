import CCurl

/// The preparation of web requests by a helper thread, because it takes longer than a turn of the loop should: libcurl, which is
/// loaded in 23 ms, and for requests with TLS the authorities, which are read in 50 ms.
struct HTTPPreparation: Sendable {
    var authorities: HTTPAuthorities

    /// Blocks.
    ///
    /// - Parameters:
    ///   - open: loads libcurl; returns the reason if it cannot.
    ///   - file: the file of authorities; `nil` for that of libcurl.
    ///   - withAuthorities: false if requests without TLS wait only.
    init(open: () -> String?, file: String?, withAuthorities: Bool) throws(HTTPTransfer.Failure) {
        if let reason = open() { throw HTTPTransfer.Failure(sentence: reason) }
        guard withAuthorities else {
            authorities = .notNeeded
            return
        }
        guard let path = file ?? ccurl_authorities().map({ String(cString: $0) }) else {
            authorities = .unknown
            return
        }
        guard ccurl_takes_authorities() else {
            authorities = .file(path)
            return
        }
        guard let list = HTTPAuthorities.List(readingFrom: path) else {
            throw HTTPTransfer.Failure(sentence: "no certificates of authorities can be read from \(path)")
        }
        authorities = .read(list)
    }

    static func openLibrary() -> String? { ccurl_open().map { String(cString: $0) } }
}

/// The certificate authorities that a request trusts.
enum HTTPAuthorities: Sendable {
    /// The request does not use TLS.
    case notNeeded
    /// libcurl knows where they are.
    case unknown
    /// libcurl reads this file itself, on the loop: it does not use OpenSSL, or another one.
    case file(String)
    case read(List)

    /// True if a request with TLS cannot use them.
    var isMissing: Bool { if case .notNeeded = self { true } else { false } }

    /// Certificates in the memory of OpenSSL.
    final class List: Sendable {
        private let address: UInt

        init?(readingFrom path: String) {
            guard let pointer = ccurl_read_authorities(path) else { return nil }
            address = UInt(bitPattern: pointer)
        }

        deinit { ccurl_free_authorities(pointer) }

        /// Valid as long as this object.
        var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: address) }
    }
}
