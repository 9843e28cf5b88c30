#!/usr/bin/env bash
# Modern .NET with nothing but its own HTTP stack.
set -euo pipefail
printf 'version\t%s\n' ".NET SDK $(dotnet --version)"
cp "$(dirname "$0")/Client.cs" .
dotnet run --file Client.cs "${1%\?*}" "$2"
