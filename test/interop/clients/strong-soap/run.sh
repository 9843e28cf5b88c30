#!/usr/bin/env bash
set -euo pipefail
here=$(dirname "$0")
node "$here/client.cjs" "$1" "$2"
