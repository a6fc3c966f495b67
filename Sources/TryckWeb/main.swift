import WebService

#if DEBUG
    TryckWeb.main(sourceFolder: String(#filePath.dropLast("main.swift".utf8.count)) + "Public")
#else
    TryckWeb.main(sourceFolder: nil)
#endif
