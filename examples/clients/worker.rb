#!/usr/bin/env ruby
# A worker in Ruby: turns texts round. HOLDFAST_URL and HOLDFAST_TOKEN say where the server is.
require "json"
require "net/http"

URL = ENV.fetch("HOLDFAST_URL").chomp("/")
TOKEN = ENV.fetch("HOLDFAST_TOKEN")

def ask(path, body)
  headers = { "Authorization" => "Bearer #{TOKEN}", "Content-Type" => "application/json" }
  answer = Net::HTTP.post(URI(URL + path), JSON.generate(body), headers)
  raise "#{path}: #{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPSuccess)
  answer.body.to_s.empty? ? nil : JSON.parse(answer.body)
end

# The work itself. What it returns is kept; raising means: try again later.
def run(task)
  { "reversed" => task["payload"]["text"].reverse }
end

me = ask("/v1/remote/workers", "kinds" => ["reverse_rb"])
path = "/v1/remote/workers/#{me["worker"]}"
holding = {}

Thread.new do
  loop do
    sleep(me["heartbeat_interval_ms"] / 1000.0)
    ask("#{path}/heartbeat", "tasks" => holding.keys)
  end
end

begin
  loop do
    ask("#{path}/claim", "wait_ms" => 20_000)["tasks"].each do |task|
      holding[task["id"]] = task
      outcome = begin
        { "outcome" => "done", "result" => run(task) }
      rescue StandardError => e
        { "outcome" => "retry", "error" => e.message }
      end
      ask("#{path}/settle", "settlements" => [task.slice("id", "token").merge(outcome)])
      holding.delete(task["id"])
    end
  end
rescue Interrupt
  ask("#{path}/retire", {})
end
