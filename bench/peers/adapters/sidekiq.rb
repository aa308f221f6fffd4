require 'json'
require 'sidekiq'

ROLE, ADDRESS, _, WANTED = ARGV
USUAL = { 'to' => 'ada@example.org', 'template' => 'welcome', 'locale' => 'en-GB',
          'account' => 12_345 }.freeze
CONCURRENCY = 25

def say(line)
  $stdout.syswrite("#{line}\n")
end

def nanoseconds
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

class BenchJob
  include Sidekiq::Worker
  @ran = 0
  @lock = Mutex.new

  def self.count
    ran = @lock.synchronize { @ran += 1 }
    say('done') if ran == WANTED.to_i
  end

  def perform(payload)
    if payload['at']
      say("picked #{nanoseconds - payload['at']}")
    elsif payload['sleeper']
      say('began')
      sleep(3600)
    else
      BenchJob.count
    end
  end
end

def obey(line)
  verb, count = line.split
  case verb
  when 'single' then count.to_i.times { BenchJob.perform_async(USUAL) }
  when 'bulk'
    (count.to_i / 1000.0).ceil.times do |i|
      size = [1000, count.to_i - (i * 1000)].min
      Sidekiq::Client.push_bulk('class' => BenchJob, 'args' => Array.new(size) { [USUAL] })
    end
  when 'stamped' then BenchJob.perform_async({ 'at' => nanoseconds })
  else BenchJob.perform_async({ 'sleeper' => true })
  end
  'done'
end

def produce
  Sidekiq.configure_client { |config| config.redis = { url: ADDRESS } }
  Sidekiq.redis(&:ping)
  say(JSON.generate('version' => Sidekiq::VERSION, 'settings' => "concurrency #{CONCURRENCY}"))
  $stdin.each_line { |line| say(obey(line)) }
end

def work
  require 'sidekiq/cli'
  Sidekiq.logger = Logger.new($stderr, level: Logger::ERROR)
  Sidekiq.configure_server do |config|
    config.redis = { url: ADDRESS, size: CONCURRENCY + 5 }
    config.on(:startup) { say('ready') }
  end
  Thread.new { $stdin.read && exit!(0) }
  # It wants a file with the jobs and would load this one again.
  $LOADED_FEATURES << __FILE__
  cli = Sidekiq::CLI.instance
  cli.parse(['--require', __FILE__, '--concurrency', CONCURRENCY.to_s])
  cli.run
end

ROLE == 'worker' ? work : produce
