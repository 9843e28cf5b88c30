#!/usr/bin/env bash
set -euo pipefail
printf 'version\t%s\n' "zeep $(/usr/bin/python3 -c 'import zeep; print(zeep.__version__)')"
/usr/bin/python3 "$(dirname "$0")/client.py" "$@"
