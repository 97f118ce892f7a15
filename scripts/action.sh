#!/usr/bin/env bash
# The check of action.yml. Inputs come as variables, never as text of the script, so that no path
# can become a command.
set -uo pipefail

mapfile -t paths < <(printf '%s\n' "$REFETCH_PATHS" | sed '/^[[:space:]]*$/d')
options=(--format github --fail-on "${REFETCH_FAIL_ON:-flag}" -o sarif=refetch.sarif)
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    options+=(-o "markdown=$GITHUB_STEP_SUMMARY")
fi
if [ -n "${REFETCH_KNOWN:-}" ]; then
    options+=(--known "$REFETCH_KNOWN")
fi
refetch check "${options[@]}" -- "${paths[@]}"
code=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "sarif=refetch.sarif" >>"$GITHUB_OUTPUT"
fi
exit "$code"
