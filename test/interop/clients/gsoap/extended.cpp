#include "WebHookSoap.nsmap"
#include "soapWebHookSoapProxy.h"
#include <iostream>
#include <string>

/// Sends, pages and waits with the proxy that wsdl2h and soapcpp2 make from the extended WSDL.

static std::string pages;

static void handle(const std::string &page) { pages += (pages.empty() ? "" : "\t") + page; }

static void print(const std::string &binding, const char *check, const std::string &value) {
  std::cout << binding << '\t' << check << '\t' << value << std::endl;
}

static std::string last_sequence(const std::string &page) {
  const std::string name = "\"sequence\":\"";
  const size_t start = page.rfind(name) + name.size();
  return page.substr(start, page.find('"', start) - start);
}

static std::string escaped(const std::string &text) {
  std::string xml;
  for (const char c : text)
    xml += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return xml;
}

int main(int, char **arguments) {
  const std::string binding = arguments[1], text = arguments[2];

  WebHookSoapProxy client(SOAP_C_UTFSTRING);
  const std::string note = "<note>" + escaped(text) + "</note>";
  _tempuri__RecordEvent event;
  _tempuri__RecordEventResponse recorded;
  event.__any.push_back(const_cast<char *>(note.c_str()));
  if (client.RecordEvent(&event, recorded) != SOAP_OK)
    client.soap_stream_fault(std::cerr);

  _tempuri__GetEvents query;
  _tempuri__GetEventsResponse page;
  std::string after = "0", wait = "30s";
  int limit = 100;
  query.after = &after;
  query.limit = &limit;
  while (client.GetEvents(&query, page) == SOAP_OK && *page.GetEventsResult != "[]") {
    handle(*page.GetEventsResult);
    after = last_sequence(*page.GetEventsResult);
  }
  query.wait = &wait;
  if (client.GetEvents(&query, page) == SOAP_OK)
    print(binding, "waiting", *page.GetEventsResult);
  else
    client.soap_stream_fault(std::cerr);
  print(binding, "paging", pages);

  _tempuri__GetEvents found;
  found.id = recorded.RecordEventResult;
  if (client.GetEvents(&found, page) == SOAP_OK)
    print(binding, "note", *page.GetEventsResult);
}
