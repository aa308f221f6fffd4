#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "result_modes.hpp"
#include "samples.hpp"

namespace holdfast::bench {

namespace {

void write_file(const std::string& path, const amqp_bytes_t& body) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const auto* at = static_cast<const char*>(body.bytes);
  for (auto left = body.len; left > 0;) {
    auto some = ::write(fd, at, left);
    if (some <= 0) throw std::runtime_error{"cannot write " + path};
    at += some;
    left -= static_cast<std::size_t>(some);
  }
  ::fdatasync(fd);
  ::close(fd);
}

}  // namespace

double bare_rate(const test::RabbitmqServer& server, const std::filesystem::path& folder, int count,
                 const std::vector<std::string>& queues, const std::function<void()>& publish) {
  auto state = ::amqp_new_connection();
  auto* socket = ::amqp_tcp_socket_new(state);
  if (::amqp_socket_open(socket, "127.0.0.1", server.port()) != 0)
    throw std::runtime_error{"cannot connect"};
  ::amqp_login(state, "/", 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, test::RabbitmqServer::user,
               test::RabbitmqServer::password);
  ::amqp_channel_open(state, 1);
  ::amqp_basic_qos(state, 1, 0, 256, 0);
  for (const auto& queue : queues)
    ::amqp_basic_consume(state, 1, ::amqp_cstring_bytes(queue.c_str()), amqp_empty_bytes, 0, 0, 0,
                         amqp_empty_table);
  auto took = seconds([&] {
    const std::jthread producer{publish};
    for (int i = 0; i < count; ++i) {
      amqp_envelope_t envelope;
      ::amqp_maybe_release_buffers(state);
      auto got = ::amqp_consume_message(state, &envelope, nullptr, 0);
      if (got.reply_type != AMQP_RESPONSE_NORMAL) throw std::runtime_error{"nothing came"};
      write_file(folder / std::to_string(i), envelope.message.body);
      ::amqp_basic_ack(state, 1, envelope.delivery_tag, 0);
      ::amqp_destroy_envelope(&envelope);
    }
  });
  ::amqp_connection_close(state, AMQP_REPLY_SUCCESS);
  ::amqp_destroy_connection(state);
  return count / took;
}

}  // namespace holdfast::bench
