import json

import zeep
from lxml import etree
from requests import Session

session = Session()
session.headers["X-API-Key"] = "YOUR-KEY"
client = zeep.Client(
    "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended",
    transport=zeep.Transport(session=session),
)
port = client.bind("WebHook", "WebHookSoap")  # or WebHookSoap12

note = etree.Element("note")
note.text = "text"
print(port.RecordEvent(note))

after = "0"
while (page := port.GetEvents(after=after, limit=100)) != "[]":
    print(page)
    after = json.loads(page)[-1]["sequence"]
print(port.GetEvents(after=after, wait="30s"))
