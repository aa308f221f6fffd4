# What a Ruby application does: enqueues requests as the gem's client would, with Sidekiq's own
# client. The arguments are the URLs.
require 'sidekiq'

REQUESTS = 'Sidekiq::AsyncHttp::RequestWorker'.freeze

ARGV.each_with_index do |url, number|
  data = { 'http_method' => 'post', 'url' => url, 'headers' => { 'x-from' => 'ruby' },
           'body' => "order #{number} \u00e9", 'timeout' => 20, 'max_redirects' => nil }
  Sidekiq::Client.push('class' => REQUESTS, 'queue' => 'default',
                       'args' => [data, 'KeepAnswer', nil, { 'number' => number }, "r-#{number}"])
end
