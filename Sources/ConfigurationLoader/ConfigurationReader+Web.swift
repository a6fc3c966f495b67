import Expressions
import Settings
import YAMLFiles

// Reads `web:`.
extension ConfigurationReader {
    /// The longest `base_path` in octets.
    private static let maximumPathLength = 200
    /// The longest `url` in octets.
    private static let maximumURLLength = 500

    mutating func web(_ fields: CheckedMapping) -> Configuration.Web {
        var web = Configuration.Web()
        web.editsRules = fields.boolean("edit_rules") ?? true
        web.trustsIngress = fields.boolean("trust_ingress") ?? false
        if let text = fields.string("password"), let node = fields.node("password") {
            if text.isEmpty { checker.error("E203", at: node, "the password is empty") }
            web.password = Password(text)
        }
        if let text = fields.string("listen"), let node = fields.node("listen") {
            if let listen = listen(text) {
                web.listen = listen
            } else {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" is not HOST:PORT or unix:PATH",
                    hint: "write 127.0.0.1:8125")
            }
            if web.password == nil, fields.node("password") == nil, !web.trustsIngress, !web.listen.isLocal {
                checker.error(
                    "E203", at: node, "without a password, the page is only for this machine",
                    hint: "add password: !secret web, or write 127.0.0.1:8125")
            }
        }
        if let text = fields.string("base_path"), let node = fields.node("base_path") {
            if Self.isBasePath(text) {
                web.basePath = text
            } else {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" is not a path such as /tryck/",
                    hint: "begin and end with /, and use letters, digits, \"_\", \"-\", \".\" and \"~\"")
            }
        }
        if let text = fields.string("url"), let node = fields.node("url") {
            if Self.isPageURL(text) {
                web.url = text
            } else {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" is not the address of a page",
                    hint: "write what you type into the browser: http://tryck.local:8125/")
            }
        }
        return web
    }

    /// True for what Home Assistant accepts as the link of a device: `http`, `https`, or a page of its own. A name or a password in
    /// the address would be published to everybody who reads the broker's messages.
    private static func isPageURL(_ text: String) -> Bool {
        guard text.utf8.count <= maximumURLLength, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return false
        }
        return ["http://", "https://", "homeassistant://"].contains { scheme in
            let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            return text.hasPrefix(scheme) && !authority.contains("@")
                && authority.first.map { $0.isLetter || $0.isNumber || $0 == "[" } == true
        }
    }

    private func listen(_ text: String) -> Configuration.Web.Listen? {
        guard text.hasPrefix("unix:") else { return HostAndPort(text).map { .tcp($0) } }
        let path = text.dropFirst("unix:".utf8.count)
        return path.isEmpty || path.utf8.contains(0) ? nil : .unix(path: String(path))
    }

    private static func isBasePath(_ text: String) -> Bool {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text.utf8.count <= maximumPathLength, text == "/" || segments.count > 2, segments.first == "",
            segments.last == ""
        else { return false }
        return text == "/"
            || segments.dropFirst().dropLast().allSatisfy { segment in
                !segment.isEmpty && segment != "." && segment != ".."
                    && segment.utf8.allSatisfy { octet in
                        switch octet {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                            UInt8(ascii: "."), UInt8(ascii: "~"):
                            true
                        default: false
                        }
                    }
            }
    }
}
