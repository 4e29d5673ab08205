#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/capi/areas.h"
#include "tests/capi/check.h"

/* The answer to a request of HTTP, as far as it fits. */
static void ask(int32_t port, const char* request, char* answer, size_t capacity) {
  struct sockaddr_in address;
  size_t size = 0;
  ssize_t more = 1;
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof(address));
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(connection, (const struct sockaddr*)&address, sizeof(address)) == 0);
  CHECK(send(connection, request, strlen(request), 0) == (ssize_t)strlen(request));
  while (more > 0 && size + 1 < capacity) {
    more = recv(connection, answer + size, capacity - 1 - size, 0);
    if (more > 0) size += (size_t)more;
  }
  answer[size] = '\0';
  close(connection);
}

/* Counts the lines of requests: there is one for a model on a GPU, too. */
static void count_line(void* user_data, heed_string line) {
  if (!is_text(line, "") && strstr(line.data, "\"route\"")) ++*(int*)user_data;
}

int test_serve(const struct test_paths* paths) {
  heed_server_options options;
  heed_served_model served;
  heed_server *server = NULL, *other = NULL;
  heed_model* model = NULL;
  const heed_string key = heed_string_of("secret");
  char answer[4096];
  int32_t port = 0, completed = 0;
  int lines = 0;
  failures = 0;
  OK(heed_model_load(paths->decoder, NULL, &model, &last_error));
  OK(heed_server_options_init(&options));
  CHECK(options.port == 8080 && options.request_time == 600000);
  options.port = 0;
  options.api_keys = &key;
  options.api_key_count = 1;
  options.log = count_line;
  options.user_data = &lines;
  options.connections = 0;
  FAILS(HEED_ERROR_FAILED, heed_server_create(&options, &server, &last_error));
  options.connections = 100;
  OK(heed_server_create(&options, &server, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_server_port(server, &port, &last_error));
  OK(heed_served_model_init(&served));
  served.name = "mine";
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_server_add_model(server, &served, &last_error));
  served.model = model;
  OK(heed_server_add_model(server, &served, &last_error));
  OK(heed_model_free(model, &last_error));
  OK(heed_server_start(server, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_server_start(server, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_server_add_model(server, &served, &last_error));
  OK(heed_server_port(server, &port, &last_error));
  ask(port, "GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", answer,
      sizeof(answer));
  CHECK(strncmp(answer, "HTTP/1.1 401", 12) == 0);
  ask(port,
      "GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n"
      "Connection: close\r\n\r\n",
      answer, sizeof(answer));
  CHECK(strncmp(answer, "HTTP/1.1 200", 12) == 0 && strstr(answer, "\"mine\"") != NULL);

  options.port = port;
  OK(heed_server_create(&options, &other, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_server_start(other, &last_error)); /* the port is in use */
  OK(heed_server_free(other, &last_error));

  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_server_stop(server, -1, &completed, &last_error));
  OK(heed_server_stop(server, 10000, &completed, &last_error));
  CHECK(completed == 1 && lines == 2);
  OK(heed_server_stop(server, 10000, &completed, &last_error));
  OK(heed_server_free(server, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_server_stop(server, 0, &completed, &last_error));
  return failures;
}
