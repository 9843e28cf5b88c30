#!/usr/bin/env bash
set -euo pipefail
printf 'version\t%s\n' "strong-soap 5.0.10"
npm install --silent --no-audit --no-fund strong-soap@5.0.10 >/dev/null
NODE_PATH=$PWD/node_modules node "$(dirname "$0")/client.cjs" "$1" "$2"
