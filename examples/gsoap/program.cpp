#include "WebHookSoap.nsmap"
#include "soapWebHookSoapProxy.h"
#include <iostream>
#include <string>

static std::string last_sequence(const std::string &page) {
  const std::string name = "\"sequence\":\"";
  const size_t start = page.rfind(name) + name.size();
  return page.substr(start, page.find('"', start) - start);
}

int main() {
  WebHookSoapProxy client(SOAP_C_UTFSTRING);
  const auto send_key = [&client] {
    client.soap->userid = "any name";
    client.soap->passwd = "YOUR-KEY";
  };

  // Write & and < in the note as &amp; and &lt;
  std::string note = "<note>text</note>";
  _tempuri__RecordEvent event;
  _tempuri__RecordEventResponse recorded;
  event.__any.push_back(&note[0]);
  send_key();
  if (client.RecordEvent(&event, recorded) != SOAP_OK) {
    client.soap_stream_fault(std::cerr);
    return 1;
  }
  std::cout << *recorded.RecordEventResult << std::endl;

  _tempuri__GetEvents query;
  _tempuri__GetEventsResponse page;
  std::string after = "0", wait = "30s";
  int limit = 100;
  query.after = &after;
  query.limit = &limit;
  while (send_key(), client.GetEvents(&query, page) == SOAP_OK && *page.GetEventsResult != "[]") {
    std::cout << *page.GetEventsResult << std::endl;
    after = last_sequence(*page.GetEventsResult);
  }
  query.wait = &wait;
  send_key();
  if (client.GetEvents(&query, page) != SOAP_OK) {
    client.soap_stream_fault(std::cerr);
    return 1;
  }
  std::cout << *page.GetEventsResult << std::endl;
}
