# What Sidekiq's own API, which its web page is made of, says: one JSON document.
require 'json'
require 'sidekiq'
require 'sidekiq/api'

stats = Sidekiq::Stats.new
puts JSON.dump(
  'processed' => stats.processed, 'failed' => stats.failed,
  'retry' => Sidekiq::RetrySet.new.map { |job| [job.klass, job.item['error_class'], job.at.to_i] },
  'dead' => Sidekiq::DeadSet.new.map { |job| [job.klass, job.item['error_message']] },
  'processes' => Sidekiq::ProcessSet.new.map do |process|
    { 'tag' => process.tag, 'queues' => process['queues'], 'busy' => process['busy'],
      'stopping' => process.stopping?, 'labels' => process.labels }
  end
)
Sidekiq::ProcessSet.new.each(&:quiet!) if ARGV[0] == 'quiet'
Sidekiq::ProcessSet.new.each(&:stop!) if ARGV[0] == 'stop'
