<?php
$client = new SoapClient('http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended', [
    'soap_version' => SOAP_1_1, // or SOAP_1_2
    'login' => 'any name',
    'password' => 'YOUR-KEY',
]);
$note = '<note>' . htmlspecialchars('text', ENT_XML1) . '</note>';
echo $client->RecordEvent(['any' => $note])->RecordEventResult, "\n";

$after = '0';
while (($page = $client->GetEvents(['after' => $after, 'limit' => 100])->GetEventsResult) !== '[]') {
    echo $page, "\n";
    $events = json_decode($page);
    $after = end($events)->sequence;
}
echo $client->GetEvents(['after' => $after, 'wait' => '30s'])->GetEventsResult, "\n";
