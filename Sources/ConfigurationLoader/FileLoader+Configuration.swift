package import Settings
package import YAMLFiles

extension FileLoader {
    /// Loads `tryck.yaml`.
    package static func configuration(
        _ file: SourceFile, in inputs: FileInputs
    ) -> LoadResult<Configuration> {
        ConfigurationReader.load(file, in: inputs)
    }

    /// Reads the `control_socket` of a `tryck.yaml`, even if the rest of the file has errors.
    package static func controlSocket(of file: SourceFile, in inputs: FileInputs) -> String? {
        ConfigurationReader.controlSocket(of: file, in: inputs)
    }

    /// Loads the buttons of a simulator file.
    package static func simulator(_ file: SourceFile) -> LoadResult<[SimulatorButton]> {
        SimulatorReader.load(file)
    }
}
