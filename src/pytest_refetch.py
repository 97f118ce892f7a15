"""pytest plugin of refetch: thin on purpose, what it offers lives in the package."""
