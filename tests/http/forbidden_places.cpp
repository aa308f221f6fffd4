#include "http/forbidden_places.hpp"

#include <arpa/inet.h>

#include <array>
#include <set>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

using Hosts = std::vector<std::string>;

Hosts odd_numbers() {
  return {"2130706433",
          "017700000001",
          "0x7f000001",
          "0X7F000001",
          "127.1",
          "127.0.1",
          "0177.0.0.1",
          "0177.0.0.01",
          "0x7f.0.0.1",
          "0x7f.1",
          "0x7f.0x0.0x0.0x1",
          "00000177.1",
          "127.000.000.001",
          "0",
          "0.0",
          "0x0",
          "00",
          "2852039166",
          "0xa9fea9fe",
          "0251.0376.0251.0376",
          "169.254.43518",
          "0xa9.0xfe.0xa9.0xfe",
          "4294967295",
          "0xffffffff",
          "167772161",
          "3232235777",
          "10.1",
          "192.168.257",
          "127.0.0.1.",
          "127.1.",
          "2130706433.",
          "0x7f.1."};
}

Hosts encoded_hosts() {
  return {"localhost",         "LOCALHOST",
          "LocalHost",         "localhost.",
          "%6cocalhost",       "loc%61lhost",
          "127%2e0%2e0%2e1",   "%31%32%37.0.0.1",
          "127.0.0.1%00",      "127.0.0.1%00.example.org",
          "127.0.0.1%20",      "127.0.0.1%0d%0a",
          "127.0.0.1%2f",      "127.0.0.1%23",
          "127.0.0.1%3f",      "127.0.0.1%40",
          "127。0。0。1",      "127．0．0．1",
          "127｡0｡0｡1",         "１２７.0.0.1",
          "①②⑦.0.0.1",         "127%E3%80%820%E3%80%820%E3%80%821",
          "127%EF%BC%8E0.0.1", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
          "ⓛocalhost",         "%E2%93%9Bocalhost",
          "loc\u00adalhost",   "loc%C2%ADalhost"};
}

Hosts odd_addresses_of_ipv6() {
  return {"[::1]",
          "[0:0:0:0:0:0:0:1]",
          "[::0001]",
          "[::127.0.0.1]",
          "[::ffff:127.0.0.1]",
          "[::FFFF:7F00:1]",
          "[0:0:0:0:0:ffff:7f00:0001]",
          "[::ffff:169.254.169.254]",
          "[::ffff:0:127.0.0.1]",
          "[64:ff9b::7f00:1]",
          "[2002:7f00:1::]",
          "[fe80::1%25lo]",
          "[fe80::1%lo]",
          "[::1%25lo]",
          "[::1%lo]",
          "[::1",
          "::1",
          "[127.0.0.1]",
          "[v1.127]"};
}

Hosts two_hosts() {
  return {"user@127.0.0.1",
          "user:word@127.0.0.1",
          "example.org@127.0.0.1",
          "127.0.0.1@example.org",
          "example.org:80@127.0.0.1",
          "example.org%2f@127.0.0.1",
          "@127.0.0.1",
          ":@127.0.0.1",
          "example.org%40127.0.0.1",
          "example.org\\@127.0.0.1",
          "127.0.0.1\\@example.org",
          "127.0.0.1\\.example.org",
          "127.0.0.1 @example.org",
          "127.0.0.1\t",
          "127.0.0.1\r\nHost: x",
          "127.0.0.1,example.org"};
}

}  // namespace

std::vector<ForbiddenRange> forbidden_ranges() {
  const std::string f4 = "ffff:ffff:ffff:ffff", f6 = "ffff:ffff:" + f4, f7 = "ffff:" + f6;
  return {
      {"0.0.0.0", "0.1.2.3", "0.255.255.255", "", "1.0.0.0"},
      {"10.0.0.0", "10.20.30.40", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
      {"100.64.0.0", "100.100.100.200", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
      {"127.0.0.0", "127.0.0.1", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
      {"168.63.129.16", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"},
      {"169.254.0.0", "169.254.169.254", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
      {"172.16.0.0", "172.17.0.1", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
      {"192.0.0.0", "192.0.0.192", "192.0.0.255", "191.255.255.255", "192.0.1.0"},
      {"192.0.2.0", "192.0.2.77", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
      {"192.88.99.0", "192.88.99.1", "192.88.99.255", "192.88.98.255", "192.88.100.0"},
      {"192.168.0.0", "192.168.1.1", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
      {"198.18.0.0", "198.19.0.1", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
      {"198.51.100.0", "198.51.100.7", "198.51.100.255", "198.51.99.255", "198.51.101.0"},
      {"203.0.113.0", "203.0.113.9", "203.0.113.255", "203.0.112.255", "203.0.114.0"},
      {"224.0.0.0", "232.1.2.3", "239.255.255.255", "223.255.255.255", ""},
      {"240.0.0.0", "250.1.2.3", "255.255.255.255", "", ""},
      // Up to the internet of IPv6, and from its end.
      {"::", "::1", "1fff:" + f7, "", "2000::"},
      {"4000::", "8000::1", f7 + ":ffff", "3fff:" + f7, ""},
      {"::2", "::1234:5678", "::fffe:ffff:ffff", "", ""},
      {"::1:0:0:0", "::ffff:0:7f00:1", "64:ff9a:" + f6, "", ""},
      {"64:ff9b:1::", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff:" + f4, "", ""},
      {"100::", "100::7f00:1", "100::" + f4, "", ""},
      // Teredo, benchmarking and identifiers that lead nowhere.
      {"2001::", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:1ff:" + f6, "2000:" + f7,
       "2001:200::"},
      {"2001:2::1", "2001:10::1", "2001:20::1", "", ""},
      {"2001:db8::", "2001:db8:1::1", "2001:db8:" + f6, "2001:db7:" + f6, "2001:db9::"},
      {"3fff::", "3fff:123::1", "3fff:fff:" + f6, "3ffe:" + f7, "3fff:1000::"},
      {"5f00::", "5f00:1::1", "5f00:" + f7, "", ""},
      {"fc00::", "fd00:ec2::254", "fdff:" + f7, "", ""},
      {"fe80::", "fe80::a9fe:a9fe", "febf:" + f7, "", ""},
      {"fec0::", "fec0::ffff:1", "feff:" + f7, "", ""},
      {"ff00::", "ff02::1", "ffff:" + f7, "", ""},
      {"fd20:ce::254", "fd12:3456:789a::1", "fd00::1", "", ""},
  };
}

std::vector<std::string> forbidden_addresses() {
  std::set<std::string> all;
  for (const auto& range : forbidden_ranges()) all.insert({range.first, range.inner, range.last});
  return {all.begin(), all.end()};
}

std::vector<std::string> carriers_of(const std::string& four) {
  std::array<unsigned char, 4> b{};
  ::inet_pton(AF_INET, four.c_str(), b.data());
  const auto high = b[0] << 8 | b[1], low = b[2] << 8 | b[3];
  return {fmt::format("::{}", four), fmt::format("::ffff:0:{}", four),
          fmt::format("64:ff9b:1::{}", four), fmt::format("64:ff9b::{}", four),
          fmt::format("2002:{:x}:{:x}::1", high, low)};
}

std::string url_of(const std::string& address, int port) {
  const bool six = address.find(':') != address.npos;
  return fmt::format("http://{}{}{}:{}/", six ? "[" : "", address, six ? "]" : "", port);
}

std::vector<std::string> odd_spellings(int port) {
  std::vector<std::string> urls;
  for (const auto& hosts : {odd_numbers(), encoded_hosts(), odd_addresses_of_ipv6(), two_hosts()})
    for (const auto& host : hosts) urls.push_back(fmt::format("http://{}:{}/", host, port));
  const std::string here = fmt::format("127.0.0.1:{}/", port);
  for (const auto* front : {"http:",
                            "http:/",
                            "http:///",
                            "http:////",
                            "http:\\\\",
                            "http://\\",
                            "https:",
                            " http://",
                            "file://",
                            "gopher://",
                            "dict://",
                            "ftp://",
                            "ldap://",
                            "tftp://",
                            "smb://",
                            "ws://",
                            "unix://",
                            "jar:http://",
                            "view-source:http://",
                            "url:http://"})
    urls.push_back(front + here);
  urls.insert(urls.end(), {"file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)",
                           "gopher:127.0.0.1", "mailto:root@localhost"});
  // Other services than the web, wherever they are.
  for (int other : {1, 21, 22, 23, 25, 53, 79, 81, 110, 111, 143, 389, 442, 444, 445, 993, 1023})
    urls.push_back(fmt::format("http://1.1.1.1:{}/", other));
  for (const auto* bad : {"0", "65536", "99999999999", "-1", "80a", "%38%30", "80:80"})
    urls.push_back(fmt::format("http://1.1.1.1:{}/", bad));
  return urls;
}

}  // namespace holdfast::test
