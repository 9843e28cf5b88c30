#!/usr/bin/env bash
set -euo pipefail
node program.mjs
