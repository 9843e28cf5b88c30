#!/usr/bin/env bash
# Names what cannot be had from NuGet, if anything: the tool that reads the WSDL, and WCF's client packages.
set -uo pipefail
dotnet tool install dotnet-svcutil --tool-path tools >install.log 2>&1 || { echo "NuGet package dotnet-svcutil"; }
cp "$(dirname "$0")/client.csproj" .
dotnet restore >restore.log 2>&1 || { grep -o 'Unable to find package [^ ]*[^. ]' restore.log | sort -u | sed 's/.* /NuGet package /'; }
