"""What a tool does: declared by user, server or catalogue, read from its command or its name."""
