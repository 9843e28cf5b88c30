#!/usr/bin/env bash
set -euo pipefail
wsdl -out:WebHook.cs "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended"
mcs -r:System.Web.Services -r:System.Web.Extensions Program.cs WebHook.cs
mono Program.exe
