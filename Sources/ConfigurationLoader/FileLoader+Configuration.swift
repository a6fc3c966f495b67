package import Settings
package import YAMLFiles

extension FileLoader {
    /// Loads `tryck.yaml`.
    package static func configuration(
        _ file: SourceFile, in environment: FileInputs
    ) -> LoadResult<Configuration> {
        ConfigurationReader.load(file, in: environment)
    }

    /// Reads the `control_socket` of a `tryck.yaml`, even if the rest of the file has errors.
    package static func controlSocket(of file: SourceFile, in environment: FileInputs) -> String? {
        ConfigurationReader.controlSocket(of: file, in: environment)
    }

    /// Loads the buttons of a simulator file.
    package static func simulator(_ file: SourceFile) -> LoadResult<[SimulatorButton]> {
        SimulatorReader.load(file)
    }
}
