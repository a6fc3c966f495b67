import Testing

/// The pages people read first, held against the tree they describe.
@Suite("Documents")
struct DocumentTests {
    static let pages = [
        "README.md", "MQTT.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/engines.md",
    ]

    @Test("the rule in the README stands in rules/home.yaml, letter by letter")
    func rule() throws {
        let readme = try Repository.text("README.md")
        let block = try #require(readme.firstMatch(of: /```yaml\n(.*?)```/.dotMatchesNewlines()))
        #expect(block.1.contains("- id: "))
        #expect(try Repository.text("rules/home.yaml").contains(block.1))
    }

    @Test("the README's first commands are the ones that try it and test it")
    func firstCommands() throws {
        let readme = try Repository.text("README.md")
        let block = try #require(readme.firstMatch(of: /```sh\n(.*?)```/.dotMatchesNewlines()))
        let commands = block.1.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(commands == ["./deploy/try", "./deploy/test"])
        for command in commands {
            #expect(Repository.exists(String(command.dropFirst(2))))
        }
    }

    @Test("a file or folder that a page names is there", arguments: pages)
    func names(page: String) throws {
        let text = try Repository.text(page)
        // A link begins in the folder of its page.
        let folder = page.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        let named =
            // A request is called `rules/reload`, and is no file.
            text.matches(of: /`((?:Sources|Tests|deploy|rules)\/[^`\s]*)`/).map { String($0.1) }
            .filter { !$0.hasPrefix("rules/") || $0.contains(".") }
            + text.matches(of: /\]\(([^)#:]+)\)/).map { folder + $0.1 }
        for path in named {
            #expect(Repository.exists(path), "\(page) names \(path)")
        }
    }

    @Test("no page has a command that would empty a file in /etc/tryck which the reader has already")
    func secretsStay() throws {
        for page in Self.pages + ["deploy/README.md", "deploy/many.md", "deploy/debian/tryck.yaml"] {
            let lines = try Repository.text(page).split(separator: "\n")
            #expect(!lines.contains { $0.contains("/dev/null /etc/tryck/") }, "\(page)")
        }
    }

    @Test("ARCHITECTURE.md's tree has a line for each module")
    func tree() throws {
        let text = try Repository.text("ARCHITECTURE.md")
        for module in Repository.modules() {
            #expect(text.contains("\n    \(module)/"), "\(module)")
        }
    }

    @Test("each section of the protocol notes that the code cites exists")
    func protocolNotes() throws {
        let notes = try Repository.text("Sources/Flic/Flic.docc/ButtonProtocol.md")
        let sections = Set(notes.matches(of: #/(?m)^#+ (\d+(?:\.\d+)?)\.? /#).map { String($0.1) })
        #expect(!sections.isEmpty)
        let files = try Repository.swiftFiles(under: "Sources") + Repository.swiftFiles(under: "Tests")
        for file in files where file.contains(anyOf: ["protocol notes, "]) {
            for line in file.lines {
                guard let citation = line.firstMatch(of: /protocol notes, (\d[^A-Za-z"]*)/) else { continue }
                for section in citation.1.matches(of: /\d+(?:\.\d+)?/) {
                    #expect(sections.contains(String(section.0)), "\(file.path) cites section \(section.0)")
                }
            }
        }
    }
}
