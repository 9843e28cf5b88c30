$ErrorActionPreference = 'Stop'
$address = 'http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx'
$headers = @{ 'X-API-Key' = 'YOUR-KEY' }

function Ask($operation, $fields) {
    (Invoke-RestMethod "$address/$operation" -Method Post -Headers $headers -Body $fields).string.'#text'
}

Ask RecordEvent @{ note = 'text' }

$after = '0'
while (($page = Ask GetEvents @{ after = $after; limit = 100 }) -ne '[]') {
    $page
    $after = ($page | ConvertFrom-Json | Select-Object -Last 1).sequence
}
Ask GetEvents @{ after = $after; wait = '30s' }
