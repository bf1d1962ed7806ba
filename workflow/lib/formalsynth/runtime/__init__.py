"""Access to the machine that the package runs on: files, scratch folders, locks, logs, and the source files of a job."""
