#!/usr/bin/env bash
# WCF on modern .NET, with the program of the client "wcf". What it needs comes from NuGet.
set -euo pipefail
here=$(dirname "$0")
printf 'version\t%s\n' ".NET SDK $(dotnet --version)"
dotnet tool install dotnet-svcutil --tool-path tools >/dev/null
cp "$here/client.csproj" "$here/../wcf/Client.cs" .
tools/dotnet-svcutil "$1" --sync --outputFile "$PWD/Reference.cs" --namespace '*,ServiceReference' >/dev/null
dotnet run -- "${1%\?*}" "$2"
