#!/usr/bin/env ruby
# A worker in Ruby: turns texts round. HOLDFAST_URL is the server, HOLDFAST_TOKEN a token for work.
require "json"
require "net/http"

URL = ENV.fetch("HOLDFAST_URL").chomp("/") + "/v1/remote/workers"
HEADERS = { "Authorization" => "Bearer #{ENV.fetch("HOLDFAST_TOKEN")}",
            "Content-Type" => "application/json" }.freeze
Forgotten = Class.new(StandardError)
$secret = {} # goes with everything that this worker says

# Asks again while the server or its store is away: everything can be said twice.
def ask(what, body)
  loop do
    answer = Net::HTTP.post(URI(URL + what), JSON.generate(body), HEADERS.merge($secret))
    return JSON.parse(answer.body || "null") if answer.is_a?(Net::HTTPSuccess)
    raise Forgotten if answer.code == "410" # the server was restarted
    raise "#{what}: #{answer.code} #{answer.body}" if answer.code != "503"
  rescue SystemCallError, IOError, Timeout::Error
    sleep 1
  end
end

def enlist
  me = ask("", "kinds" => ["reverse_rb"])
  $secret = { "Holdfast-Worker-Secret" => me["secret"] }
  me
end

# The work itself; an exception means: try again later.
def run(task)
  { "outcome" => "done", "result" => { "reversed" => task["payload"]["text"].reverse } }
rescue StandardError => e
  { "outcome" => "retry", "error" => e.message }
end

me, holding = enlist, {}
Thread.new do
  loop do
    sleep(me["heartbeat_interval_ms"] / 1000.0)
    ask("/#{me["worker"]}/heartbeat", "tasks" => holding.keys)
  rescue Forgotten # whoever claims hears of it, too
  end
end
begin
  loop do
    ask("/#{me["worker"]}/claim", "wait_ms" => 20_000)["tasks"].each do |task|
      holding[task["id"]] = task
      ask("/#{me["worker"]}/settle", "settlements" => [task.slice("id", "token").merge(run(task))])
      holding.delete(task["id"])
    end
  rescue Forgotten # others have what this one held
    me, holding = enlist, {}
  end
rescue Interrupt
  ask("/#{me["worker"]}/retire", {})
end
