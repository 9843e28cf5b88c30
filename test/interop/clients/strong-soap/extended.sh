#!/usr/bin/env bash
set -euo pipefail
node "$(dirname "$0")/extended.cjs" "$1" "$2"
