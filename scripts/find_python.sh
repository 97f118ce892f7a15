#!/bin/sh
# Prints the first Python that really runs and is 3.11 or newer. A name on the PATH proves nothing:
# version managers leave shims that fail, so each candidate is run.
for candidate in python3.13 python3.12 python3.11 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
done
echo "refetch needs Python 3.11 or newer; none was found on the PATH" >&2
exit 1
