"""Sends, pages and waits with the ports that zeep makes from the extended WSDL."""

import json
import sys

import zeep
from lxml import etree

wsdl, text = sys.argv[1:3]
client = zeep.Client(wsdl)


def show(binding, check, *values):
    print(binding, check, *values, sep="\t")


def call(binding, name):
    pages = []
    handle = pages.append

    port = client.bind("WebHook", name)
    note = etree.Element("note")
    note.text = text
    id = port.RecordEvent(note)

    after = "0"
    while (page := port.GetEvents(after=after, limit=100)) != "[]":
        handle(page)
        after = json.loads(page)[-1]["sequence"]
    next = port.GetEvents(after=after, wait="30s")

    show(binding, "note", port.GetEvents(id=id))
    show(binding, "paging", *pages)
    show(binding, "waiting", next)


call("soap11", "WebHookSoap")
call("soap12", "WebHookSoap12")
