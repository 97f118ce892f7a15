#!/bin/sh
# Puts the official schema of SARIF 2.1.0, as it comes with Microsoft's validator, into build/ for
# the tests of that report; without it they are skipped. Needs npm.
set -eu
cd "$(dirname "$0")/.."
target=build/sarif-2.1.0.json
[ -s "$target" ] && exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --silent @microsoft/sarif-multitool-linux@5.7.0 >/dev/null)
tar -xzf "$folder"/*.tgz -C "$folder" package/sarif-2.1.0.json
mkdir -p build
mv "$folder/package/sarif-2.1.0.json" "$target"
