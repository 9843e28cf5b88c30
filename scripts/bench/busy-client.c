// A load generator that never sleeps: it polls its connections, so the server never pays for waking it (5 to 20 us a call otherwise).
//   busy-client ROUNDS MILLISECONDS CONNECTIONS MODE PID:PORT ...
// MODE: soap11, the same HelloWorld again and again; vary, each envelope different; get, HelloWorld over HTTP GET; record, RecordEvent.
// The servers take turns in random order, a burst each. A line for each burst: round, server, calls, calls not answered with 200,
// microseconds of processor time a call of all threads and of the main thread, calls a second, and the median, 99th percentile, 99.9th
// percentile and longest answer time in milliseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP_ROUNDS = 8, MOST_CALLS = 4000000, ANSWER_BYTES = 16384 };

typedef struct {
  int socket, received, expected;
  double sent;
  char answer[ANSWER_BYTES];
} Connection;

typedef struct {
  int process, port, poll;
  Connection *connections;
} Server;

typedef struct {
  double all, main;
} ProcessorTime;

static const char *mode;
static int connectionCount;
static double *waits;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static double milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/** Microseconds of processor time that the threads of a process have taken. */
static ProcessorTime processorTime(int process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *threads = opendir(path);
  if (!threads) fail("a server has ended");
  ProcessorTime time = {0, 0};
  for (struct dirent *thread; (thread = readdir(threads));) {
    if (thread->d_name[0] == '.') continue;
    char file[400];
    snprintf(file, sizeof file, "%s/%s/schedstat", path, thread->d_name);
    FILE *figures = fopen(file, "r");
    double nanoseconds;
    if (!figures) continue;
    if (fscanf(figures, "%lf", &nanoseconds) == 1) {
      time.all += nanoseconds / 1e3;
      if (atoi(thread->d_name) == process) time.main += nanoseconds / 1e3;
    }
    fclose(figures);
  }
  closedir(threads);
  return time;
}

static void call(Server *server, Connection *connection) {
  static long counter = 0;
  char request[4096], body[2048], comment[32] = "";
  const char *operation = strcmp(mode, "record") ? "HelloWorld" : "RecordEvent";
  int length;
  if (!strcmp(mode, "get")) {
    length = sprintf(request, "GET /webhooks/Services/WebHooks.asmx/HelloWorld? HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", server->port);
  } else {
    if (!strcmp(mode, "vary")) sprintf(comment, "<!--%ld-->", ++counter);
    int size = sprintf(body,
      "<?xml version=\"1.0\" encoding=\"utf-8\"?><soap:Envelope xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\">%s<soap:Body>"
      "<%s xmlns=\"http://tempuri.org/\" /></soap:Body></soap:Envelope>", comment, operation);
    length = sprintf(request,
      "POST /webhooks/Services/WebHooks.asmx HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: text/xml; charset=utf-8\r\n"
      "SOAPAction: \"http://tempuri.org/%s\"\r\nContent-Length: %d\r\n\r\n%s", server->port, operation, size, body);
  }
  connection->received = connection->expected = 0;
  connection->sent = milliseconds();
  if (write(connection->socket, request, length) != length) fail("a request could not be written");
}

/** Reads what has arrived; returns the status once the answer is complete, otherwise 0. */
static int receive(Connection *connection) {
  int room = ANSWER_BYTES - connection->received - 1;
  int bytes = read(connection->socket, connection->answer + connection->received, room);
  if (bytes < 0 && errno == EAGAIN) return 0;
  if (bytes <= 0) fail("a server closed a connection, or its answer is too long");
  connection->received += bytes;
  connection->answer[connection->received] = 0;
  if (!connection->expected) {
    char *end = strstr(connection->answer, "\r\n\r\n");
    if (!end) return 0;
    char *length = strcasestr(connection->answer, "\r\ncontent-length:");
    if (!length) fail("an answer has no Content-Length");
    connection->expected = end + 4 - connection->answer + atoi(length + 17);
  }
  return connection->received < connection->expected ? 0 : atoi(connection->answer + 9);
}

static void openConnections(Server *server) {
  server->connections = calloc(connectionCount, sizeof(Connection));
  server->poll = epoll_create1(0);
  for (int i = 0; i < connectionCount; i++) {
    Connection *connection = &server->connections[i];
    int one = 1, opened = connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(opened, (struct sockaddr *)&address, sizeof address)) fail("a server does not take connections");
    setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(opened, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(server->poll, EPOLL_CTL_ADD, opened, &event);
  }
}

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return difference < 0 ? -1 : difference > 0;
}

static void burst(Server *server, int round, int number, double duration) {
  ProcessorTime before = processorTime(server->process);
  double begun = milliseconds(), end = begun + duration;
  int open = connectionCount;
  long calls = 0, bad = 0;
  for (int i = 0; i < connectionCount; i++) call(server, &server->connections[i]);
  while (open > 0) {
    struct epoll_event events[64];
    int ready = epoll_wait(server->poll, events, 64, 0);
    if (ready == 0 && milliseconds() > end + 30000) fail("a server does not answer");
    for (int i = 0; i < ready; i++) {
      Connection *connection = events[i].data.ptr;
      int status = receive(connection);
      if (!status) continue;
      double now = milliseconds();
      if (calls == MOST_CALLS) fail("too many calls in a burst");
      waits[calls++] = now - connection->sent;
      if (status != 200) bad++;
      if (now < end) call(server, connection);
      else open--;
    }
  }
  double seconds = (milliseconds() - begun) / 1e3;
  // What the server does after its last answer, such as a commit's upkeep, belongs to the burst.
  usleep(2000);
  ProcessorTime after = processorTime(server->process);
  if (round < 0) return;
  qsort(waits, calls, sizeof *waits, ascending);
  printf("%d %d %ld %ld %.3f %.3f %.0f %.3f %.3f %.3f %.3f\n", round, number, calls, bad, (after.all - before.all) / calls,
    (after.main - before.main) / calls, calls / seconds, waits[calls / 2], waits[calls * 99 / 100], waits[calls * 999 / 1000],
    waits[calls - 1]);
  fflush(stdout);
}

int main(int count, char **arguments) {
  if (count < 6) fail("busy-client ROUNDS MILLISECONDS CONNECTIONS MODE PID:PORT ...");
  int rounds = atoi(arguments[1]), servers = count - 5;
  double duration = atof(arguments[2]);
  connectionCount = atoi(arguments[3]);
  mode = arguments[4];
  waits = malloc(sizeof *waits * MOST_CALLS);
  Server *all = calloc(servers, sizeof *all);
  for (int i = 0; i < servers; i++) {
    sscanf(arguments[5 + i], "%d:%d", &all[i].process, &all[i].port);
    openConnections(&all[i]);
  }
  int order[servers];
  for (int i = 0; i < servers; i++) order[i] = i;
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (int i = 0; i < servers; i++) {
      // In a fixed order the same server would always pay for what the one before it leaves behind.
      int other = i + rand() % (servers - i), number = order[other];
      order[other] = order[i];
      order[i] = number;
      burst(&all[number], round, number, round < 0 ? duration * 2 : duration);
    }
  }
}
