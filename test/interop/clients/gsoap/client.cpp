#include "WebHookSoap.nsmap"
#include "soapWebHookSoapProxy.h"
#include <iostream>
#include <string>

static void print(const std::string &binding, const char *check, const std::string &value) {
  std::cout << binding << '\t' << check << '\t' << value << std::endl;
}

int main(int, char **arguments) {
  const std::string binding = arguments[1];
  WebHookSoapProxy client(SOAP_C_UTFSTRING);
  _tempuri__HelloWorld request;
  _tempuri__HelloWorldResponse reply;
  if (client.HelloWorld(&request, reply) == SOAP_OK)
    print(binding, "HelloWorld", *reply.HelloWorldResult);
  else
    client.soap_stream_fault(std::cerr);

  _tempuri__RecordEvent event;
  _tempuri__RecordEventResponse recorded;
  if (client.RecordEvent(&event, recorded) == SOAP_OK)
    print(binding, "RecordEvent", *recorded.RecordEventResult);

  _tempuri__GetEvents query;
  _tempuri__GetEventsResponse events;
  if (client.GetEvents(&query, events) == SOAP_OK)
    print(binding, "GetEvents", *events.GetEventsResult);

  // Over SOAP 1.2 the element in the body decides, not the action, and the proxy always sends its own.
  if (client.HelloWorld(nullptr, "http://tempuri.org/Unknown", &request, reply) != SOAP_OK) {
    const std::string code = *soap_faultcode(client.soap);
    print(binding, "fault", "fault " + code.substr(code.find(':') + 1) + ": " + *soap_faultstring(client.soap));
  }
}
