import Foundation
import Testing

/// The language server with an editor that is not ours: Neovim's own client.
@Suite("Neovim", .ownThread)
struct NeovimTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "support/neovim.lua").path

    @Test("Neovim shows a mistake, completes, corrects it, explains a name and renames it in all files")
    func session() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "rules: home.yaml\n")
        try workshop.write("home.yaml", "version: 1\ninclude: room.yaml\nbuttons:\n  kitchen: BA00-H00001\n")
        let room = try workshop.write(
            "room.yaml",
            "rules:\n  - id: lamp\n    triggers: {button: kitchn, event: click}\n    actions: {log: clicked}\n")
        let neovim = try workshop.start(
            "/usr/bin/nvim", ["--headless", "--clean", "+luafile \(Self.script)"],
            environment: ["FILE": room, "TRYCK": Workshop.built("tryck"), "HOME": workshop.path("")])
        #expect(try neovim.status() == 0, "\(neovim.text)")
        for expected in [
            "diagnostic E301 2 23 unknown button \"kitchn\"", "completion kitchen",
            "action Replace kitchn by kitchen", "fixed     triggers: {button: kitchen, event: click}", "diagnostics 0",
            "hover **kitchen**: a button of model flic2  A click does not wait.",
            "renamed     triggers: {button: cook, event: click}", "stopped true",
        ] {
            #expect(neovim.text.contains(expected), "\(expected) is missing:\n\(neovim.text)")
        }
        let home = try String(contentsOfFile: workshop.path("home.yaml"), encoding: .utf8)
        #expect(home.contains("\n  cook: BA00-H00001\n"))
    }
}
