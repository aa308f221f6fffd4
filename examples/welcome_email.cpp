#include <holdfast/holdfast.hpp>
#include <iostream>

struct WelcomeEmail {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(WelcomeEmail, (), (to))

void send(const WelcomeEmail& mail, const std::string& key) {
  std::cout << "Welcome, " << mail.to << "! (" << key << ")" << std::endl;
}

int main() {
  auto engine = holdfast::open("sqlite:work.db");
  holdfast::Tasks tasks{engine};

  tasks.on<WelcomeEmail>("welcome_email", [](const WelcomeEmail& mail, holdfast::Attempt& attempt) {
    send(mail, attempt.idempotency_key());  // throws? tried again, later
    return holdfast::done;
  });
  tasks.enqueue("welcome_email", WelcomeEmail{.to = "ada@example.org"}, {.max_attempts = 5});

  holdfast::run(tasks);  // until SIGTERM; kill -9 is fine too
}
