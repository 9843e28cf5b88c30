"""Calls operations that take parameters with zeep: parameters.py WSDL. Prints port and result, or the first line of the fault."""

import sys
from datetime import datetime, timezone
from decimal import Decimal

from zeep import Client
from zeep.xsd import SkipValue
from zeep.exceptions import Fault

client = Client(sys.argv[1])
for port in ("WebHookSoap", "WebHookSoap12"):
    service = client.bind("WebHook", port)
    calls = [
        lambda: service.Add(a=2, b=3),
        lambda: service.Remind(person="Zoë <b> ", at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)),
        lambda: service.Order(
            article="AB-123", size="large", quantity=7, price=Decimal("1.50"), gift=True, customer=9007199254740993
        ),
        lambda: service.Order(article=SkipValue),
    ]
    for call in calls:
        try:
            result = call()
        except Fault as fault:
            result = fault.message.splitlines()[0]
        print(port, result, sep="\t")
