import Foundation
import PackagePlugin

/// Writes a source file that says which commit a program is built from, and the public address of the project, before each
/// build and only when they have changed.
///
/// A define in Package.swift would not do: SwiftPM keeps what it read of the manifest until its text changes.
@main
struct CommitPlugin: BuildToolPlugin {
    /// `$1` is the package, `$2` the file. A package without a `.git` of its own, such as one that was unpacked from an
    /// archive, has no commit. `deploy/publish` writes the address, which otherwise is empty.
    private static let script = #"""
        commit=$(GIT_CEILING_DIRECTORIES=${1%/*} git -C "$1" rev-parse --short=8 HEAD 2>/dev/null || true)
        homepage=$(cat "$1/deploy/homepage" 2>/dev/null || true)
        text=$(printf 'let builtCommit = "%s"\nlet builtHomepage = "%s"' "$commit" "$homepage")
        [ "$(cat "$2" 2>/dev/null)" = "$text" ] || printf '%s\n' "$text" >"$2"
        """#

    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let file = context.pluginWorkDirectoryURL.appending(path: "BuiltCommit.swift")
        return [
            .prebuildCommand(
                displayName: "Asking git for the commit", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", context.package.directoryURL.path, file.path],
                outputFilesDirectory: context.pluginWorkDirectoryURL)
        ]
    }
}
