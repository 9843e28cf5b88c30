#!/usr/bin/env bash
set -euo pipefail
php "$(dirname "$0")/extended.php" "$1" "$2"
