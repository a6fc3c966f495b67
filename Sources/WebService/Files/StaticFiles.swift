import Bytes
import Cryptography
import Glibc

/// The files of the page, from folders that belong to the program. Only regular files in them are served, and no link is
/// followed.
package struct StaticFiles: Sendable {
    package struct File: Sendable {
        package var octets: [UInt8]
        package var contentType: String
        /// In quotes.
        package var etag: String
        /// True for a library of the system, which changes only with its package.
        package var isLibrary: Bool
    }

    package static let maximumLength = 8 << 20

    private let page: String
    private let codeMirror: String

    /// - Parameters:
    ///   - page: the folder with `index.html`.
    ///   - codeMirror: the folder that is served as `codemirror/`.
    package init(page: String, codeMirror: String) {
        self.page = page
        self.codeMirror = codeMirror
    }

    /// - Parameter path: the path of the request below the base path, without a leading slash, as it was sent.
    /// - Returns: `nil` if there is no such file.
    package func file(_ path: String) -> File? {
        var segments = (path.isEmpty ? "index.html" : path).split(separator: "/", omittingEmptySubsequences: false)
        let isLibrary = segments.count > 1 && segments[0] == "codemirror"
        if isLibrary { segments.removeFirst() }
        guard segments.count <= 8, segments.allSatisfy(Self.isName), let name = segments.last,
            let contentType = Self.contentType(of: name),
            let octets = BeneathFile.read(segments.map(String.init), in: isLibrary ? codeMirror : page)
        else { return nil }
        let digest = Array(Digest.sha256(octets).prefix(16)).hex
        return File(octets: octets, contentType: contentType, etag: "\"\(digest)\"", isLibrary: isLibrary)
    }

    /// A name of letters, digits, `_`, `-` and `.` that does not begin with a point.
    private static func isName(_ segment: Substring) -> Bool {
        !segment.isEmpty && !segment.hasPrefix(".")
            && segment.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// `nil` for a kind of file that the page does not have.
    private static func contentType(of name: Substring) -> String? {
        let types = [
            "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
            "png": "image/png", "ico": "image/x-icon", "json": "application/json", "woff2": "font/woff2",
            "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
        ]
        return name.split(separator: ".").last.flatMap { types[String($0)] }
    }
}
