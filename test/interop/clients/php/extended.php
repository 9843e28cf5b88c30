<?php
[, $wsdl, $text] = $argv;
ini_set('soap.wsdl_cache_enabled', '0');

function show(string ...$fields): void
{
    echo implode("\t", $fields), "\n";
}

foreach (['soap11' => SOAP_1_1, 'soap12' => SOAP_1_2] as $binding => $version) {
    $pages = [];
    $handle = function (string $page) use (&$pages): void {
        $pages[] = $page;
    };

    $client = new SoapClient($wsdl, ['soap_version' => $version]);
    $note = '<note>' . htmlspecialchars($text, ENT_XML1) . '</note>';
    $id = $client->RecordEvent(['any' => $note])->RecordEventResult;

    $after = '0';
    while (($page = $client->GetEvents(['after' => $after, 'limit' => 100])->GetEventsResult) !== '[]') {
        $handle($page);
        $events = json_decode($page);
        $after = end($events)->sequence;
    }
    $next = $client->GetEvents(['after' => $after, 'wait' => '30s'])->GetEventsResult;

    show($binding, 'note', $client->GetEvents(['id' => $id])->GetEventsResult);
    show($binding, 'paging', ...$pages);
    show($binding, 'waiting', $next);
}
