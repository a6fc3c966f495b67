import CommandSupport

BenchCommand.runAndExit()
