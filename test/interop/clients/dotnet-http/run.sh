#!/usr/bin/env bash
# Modern .NET with nothing but its own HTTP stack.
set -euo pipefail
cp "$(dirname "$0")/Client.cs" .
dotnet run --file Client.cs "${1%\?*}" "$2"
