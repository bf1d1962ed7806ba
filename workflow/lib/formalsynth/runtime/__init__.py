"""What the package needs of the machine that it runs on: files, scratch folders, locks, logs, and which code a job needs."""
