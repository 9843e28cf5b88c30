#!/usr/bin/env bash
set -euo pipefail
perl "$(dirname "$0")/client.pl" "$1" "$2"
