"""`python -m refetch` is the same as `refetch`."""

from refetch.cli import main

if __name__ == "__main__":
    main()
