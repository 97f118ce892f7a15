"""The report page: one file that opens from disk, with everything in it and no network."""
