#!/usr/bin/env bash
set -euo pipefail
here=$(dirname "$0")
perl "$here/extended.pl" "$1" "$2" soap11 1.1
perl "$here/extended.pl" "$1" "$2" soap12 1.2
