#!/usr/bin/env bash
set -euo pipefail
wsdl -nologo -out:Proxy.cs "$1" >/dev/null
mcs -nologo -r:System.Web.Services -r:System.Web.Extensions -out:client.exe "$(dirname "$0")/Extended.cs" Proxy.cs
mono client.exe "$2"
