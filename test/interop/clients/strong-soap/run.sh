#!/usr/bin/env bash
set -euo pipefail
here=$(dirname "$0")
printf 'version\t%s\n' "strong-soap $(cd "$here" && node -p 'require("strong-soap/package.json").version')"
node "$here/client.cjs" "$1" "$2"
