"""What a tool does: declared by its user, its server, this catalogue, or read from command and name."""
