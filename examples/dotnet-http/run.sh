#!/usr/bin/env bash
set -euo pipefail
dotnet run --file Program.cs
