#!/usr/bin/env bash
set -euo pipefail
printf 'version\t%s\n' "SOAP::Lite $(perl -MSOAP::Lite -e 'print SOAP::Lite->VERSION')"
perl "$(dirname "$0")/client.pl" "$1" "$2"
