import Daemon

// The plugin CommitPlugin makes the constant.
runDaemon(commit: builtCommit)
