// A stand-alone gSOAP server as its manual shows it: one thread for each connection that is kept alive.
#include <arpa/inet.h>
#include <cstdio>
#include <thread>
#include "WebHookSoap.nsmap"
#include "soapWebHookSoapService.h"

static int answer(struct soap *soap, std::string *&result, const char *text) {
  result = soap_new_std__string(soap);
  *result = text;
  return SOAP_OK;
}

// Stores nothing: the id is always the same.
int WebHookSoapService::RecordEvent(_tempuri__RecordEvent *, _tempuri__RecordEventResponse &response) {
  return answer(soap, response.RecordEventResult, "00000000-0000-7000-8000-000000000000");
}

int WebHookSoapService::GetEvents(_tempuri__GetEvents *, _tempuri__GetEventsResponse &response) {
  return answer(soap, response.GetEventsResult, "[]");
}

int WebHookSoapService::HelloWorld(_tempuri__HelloWorld *, _tempuri__HelloWorldResponse &response) {
  return answer(soap, response.HelloWorldResult, "Hello World");
}

// The generated class has the operations once more, for the SOAP 1.2 binding.
int WebHookSoapService::RecordEvent_(_tempuri__RecordEvent *request, _tempuri__RecordEventResponse &response) {
  return RecordEvent(request, response);
}

int WebHookSoapService::GetEvents_(_tempuri__GetEvents *request, _tempuri__GetEventsResponse &response) {
  return GetEvents(request, response);
}

int WebHookSoapService::HelloWorld_(_tempuri__HelloWorld *request, _tempuri__HelloWorldResponse &response) {
  return HelloWorld(request, response);
}

int main() {
  WebHookSoapService service(SOAP_IO_KEEPALIVE, SOAP_IO_KEEPALIVE);
  service.soap->max_keep_alive = 0; // No limit to the calls of one connection: the other servers have none.
  service.soap->send_timeout = service.soap->recv_timeout = 60;
  sockaddr_in address{};
  socklen_t length = sizeof address;
  SOAP_SOCKET socket = service.bind("127.0.0.1", 0, 1024);
  if (!soap_valid_socket(socket) || getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length) != 0) {
    service.soap_print_fault(stderr);
    return 1;
  }
  std::printf("answers at http://127.0.0.1:%d/webhooks/Services/WebHooks.asmx\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (soap_valid_socket(service.accept())) {
    std::thread([connection = service.copy()] {
      connection->serve();
      connection->destroy();
      delete connection;
    }).detach();
  }
  service.soap_print_fault(stderr);
  return 1;
}
