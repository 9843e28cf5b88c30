#!/usr/bin/env bash
set -euo pipefail
svcutil -out:WebHook.cs "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL"
sed -i 's/Action="\*", ReplyAction="\([^"]*\)"/Action="\1", ReplyAction="*"/' WebHook.cs
mcs -r:System.ServiceModel -r:System.Runtime.Serialization Program.cs WebHook.cs
mono Program.exe
