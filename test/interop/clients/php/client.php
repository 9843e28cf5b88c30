<?php
[, $wsdl, $text, $namespace] = $argv;
$actions = preg_replace('{/?$}', '/', $namespace, 1);
ini_set('soap.wsdl_cache_enabled', '0');

function show(string ...$fields): void
{
    echo implode("\t", $fields), "\n";
}

foreach (['soap11' => SOAP_1_1, 'soap12' => SOAP_1_2] as $binding => $version) {
    $client = new SoapClient($wsdl, ['soap_version' => $version]);
    show($binding, 'HelloWorld', $client->HelloWorld()->HelloWorldResult);
    show($binding, 'RecordEvent', $client->RecordEvent()->RecordEventResult);
    $note = "<note xmlns=\"$namespace\">" . htmlspecialchars($text, ENT_XML1) . '</note>';
    // The type of the element is empty in the WSDL, so the payload is sent without it.
    $plain = new SoapClient(null, [
        'soap_version' => $version,
        'location' => strtok($wsdl, '?'),
        'uri' => $namespace,
        'use' => SOAP_LITERAL,
    ]);
    $options = ['soapaction' => $actions . 'RecordEvent'];
    show($binding, 'payload', $plain->__soapCall('RecordEvent', [new SoapVar($note, XSD_ANYXML)], $options));
    show($binding, 'GetEvents', $client->GetEvents()->GetEventsResult);
    try {
        $plain->__soapCall('Unknown', [], ['soapaction' => $actions . 'Unknown']);
    } catch (SoapFault $fault) {
        show($binding, 'fault', 'SoapFault ' . preg_replace('/.*:/', '', $fault->faultcode) . ': ' . $fault->faultstring);
    }
}
