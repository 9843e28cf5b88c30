"""All four ports of the WSDL, with zeep."""

import sys

import zeep

wsdl, text, NAMESPACE = sys.argv[1:4]


def show(binding, check, value):
    print(binding, check, value, sep="\t")


client = zeep.Client(wsdl)


def send(proxy, operation, known):
    """Sends an operation element that the typed proxy cannot write, as an envelope of its own."""
    binding = proxy._binding
    address = proxy._binding_options["address"]
    envelope, headers = binding._create(known, (), {}, client=client, options=proxy._binding_options)
    element = envelope.find(".//{%s}%s" % (NAMESPACE, known))
    element.tag = "{%s}%s" % (NAMESPACE, operation)
    note = element.makeelement("{%s}note" % NAMESPACE)
    note.text = text
    element.append(note)
    headers = {name: value.replace(known, operation) for name, value in headers.items()}
    reply = client.transport.post_xml(address, envelope, headers)
    return binding.process_reply(client, binding.get(known), reply)


for name, port in {"soap11": "WebHookSoap", "soap12": "WebHookSoap12"}.items():
    proxy = client.bind("WebHook", port)
    show(name, "HelloWorld", proxy.HelloWorld())
    show(name, "RecordEvent", proxy.RecordEvent())
    show(name, "payload", send(proxy, "RecordEvent", "RecordEvent"))
    show(name, "GetEvents", proxy.GetEvents())
    try:
        send(proxy, "Unknown", "HelloWorld")
    except zeep.exceptions.Fault as fault:
        show(name, "fault", "Fault %s: %s" % (fault.code.split(":")[-1], fault.message))

for name, port in {"httpget": "WebHookHttpGet", "httppost": "WebHookHttpPost"}.items():
    proxy = client.bind("WebHook", port)
    show(name, "HelloWorld", proxy.HelloWorld())
    show(name, "RecordEvent", proxy.RecordEvent())
    show(name, "GetEvents", proxy.GetEvents())
