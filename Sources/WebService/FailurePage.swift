/// A refusal as a page, for a browser that was led to an address. Programs and scripts of the page get JSON.
package enum FailurePage {
    /// True if a request asks for a page, as browsers do for what they show as a whole.
    ///
    /// - Parameter accept: the values of the headers `Accept`.
    package static func isWanted(isChange: Bool, accept: [String]) -> Bool {
        guard !isChange else { return false }
        return accept.flatMap { $0.split(separator: ",") }.contains { type in
            type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "text/html"
        }
    }

    /// The text of the page.
    ///
    /// - Parameters:
    ///   - sentence: as programs get it: in lower case and without a full stop.
    ///   - path: that of the request below the base path, or the whole path of a request that is not below it. The addresses on
    ///     the page are relative, because only a proxy knows its prefix.
    ///   - home: where the page is below the root of `path`, such as `tryck/`; empty if it is the root.
    ///   - advice: what to do next.
    package static func text(_ sentence: String, path: String, home: String = "", advice: Advice) -> String {
        let base = String(repeating: "../", count: max(0, path.utf8.count { $0 == UInt8(ascii: "/") } - 1)) + home
        let home = base.isEmpty ? "./" : base
        let next =
            switch advice {
            case .link(let hasPassword):
                "On the machine that runs Tryck, enter <code>tryck web</code> and open the link that it prints. "
                    + "Each link can be used once, within ten minutes."
                    + (hasPassword ? "</p>\n<p><a href=\"\(home)\">Sign in with the password instead</a>" : "")
            case .home: "<a href=\"\(home)\">Open the page of Tryck</a>"
            }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Tryck</title>
            <link rel="icon" href="\(base)icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="\(base)base.css">
            <link rel="stylesheet" href="\(base)pages.css">
            </head>
            <body>
            <main id="content">
            <div class="sign-in panel">
            <h1>Tryck</h1>
            <p>\(escaped(sentence.prefix(1).uppercased() + sentence.dropFirst())).</p>
            <p>\(next)</p>
            </div>
            </main>
            </body>
            </html>

            """
    }

    package enum Advice: Hashable, Sendable {
        /// Another link for signing in, or the password if there is one.
        case link(hasPassword: Bool)
        /// The beginning of the page, whose files may be asked for without a session.
        case home
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
