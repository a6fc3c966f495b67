import DiskTestSupport
import Glibc
import Testing

@testable import WebService

@Suite("Files of the page")
struct StaticFilesTests {
    private let directory = TemporaryDirectory()
    private let files: StaticFiles

    init() {
        for folder in ["page", "page/pictures", "codemirror", "codemirror/lib"] {
            mkdir(directory.path + "/" + folder, 0o700)
        }
        writeFile(directory.path + "/page/index.html", "<!doctype html>".utf8)
        writeFile(directory.path + "/page/main.js", "1".utf8)
        writeFile(directory.path + "/page/pictures/a.svg", "<svg/>".utf8)
        writeFile(directory.path + "/page/.hidden.js", "2".utf8)
        writeFile(directory.path + "/page/notes", "3".utf8)
        writeFile(directory.path + "/codemirror/lib/codemirror.js", "4".utf8)
        writeFile(directory.path + "/secret.js", "5".utf8)
        symlink("../secret.js", directory.path + "/page/link.js")
        symlink("..", directory.path + "/page/up")
        files = StaticFiles(page: directory.path + "/page", codeMirror: directory.path + "/codemirror")
    }

    @Test(
        "each file has its type",
        arguments: [
            ("", "text/html; charset=utf-8"), ("index.html", "text/html; charset=utf-8"),
            ("main.js", "text/javascript; charset=utf-8"), ("pictures/a.svg", "image/svg+xml"),
            ("codemirror/lib/codemirror.js", "text/javascript; charset=utf-8"),
        ])
    func types(path: String, type: String) {
        #expect(files.file(path)?.contentType == type)
        #expect(files.file(path)?.isLibrary == path.hasPrefix("codemirror"))
    }

    @Test(
        "nothing else is served",
        arguments: [
            "../secret.js", "pictures/../main.js", "..%2fsecret.js", "%2e%2e/secret.js", "link.js", "up/secret.js",
            ".hidden.js", "./main.js", "/main.js", "//main.js", "main.js/", "notes", "pictures", "main.js\0",
            "main.jsx",
            "codemirror", "codemirror/../../secret.js", "codemirror/lib", "a/b/c/d/e/f/g/h/i/main.js", "main.js?x",
        ])
    func nothing(path: String) { #expect(files.file(path) == nil) }

    @Test("an etag changes with the file")
    func etag() {
        let before = files.file("main.js")?.etag
        writeFile(directory.path + "/page/main.js", "2".utf8)
        #expect(before != nil && files.file("main.js")?.etag != before)
    }
}
