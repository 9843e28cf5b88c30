#!/usr/bin/env bash
set -euo pipefail
printf 'version\t%s\n' "PHP $(php -r 'echo PHP_VERSION;')"
php "$(dirname "$0")/client.php" "$@"
