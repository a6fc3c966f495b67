import Daemon

// The plugin CommitPlugin makes the constants.
runDaemon(commit: builtCommit, homepage: builtHomepage)
