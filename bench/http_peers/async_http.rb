# ruby async_http.rb URL COUNT AT_ONCE: prints how many seconds so many requests took.
require 'async'
require 'async/http/client'
require 'async/http/endpoint'

url, count, at_once = ARGV
left = count.to_i
began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
Async do |task|
  client = Async::HTTP::Client.new(Async::HTTP::Endpoint.parse(url))
  workers = at_once.to_i.times.map do
    task.async do
      while (left -= 1) >= 0
        response = client.get('/')
        response.read
        raise "answered #{response.status}" unless response.status == 200
      end
    end
  end
  workers.each(&:wait)
  puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  client.close
end
