# The application's side of callbacks, run by Sidekiq's own server: decodes what it is told as the
# gem's classes do, and writes a line of JSON for each to the file named by RESULTS.
require 'base64'
require 'json'
require 'sidekiq'
require 'stringio'
require 'zlib'

def decode(body)
  return nil if body.nil?

  bytes = body['encoding'] == 'text' ? body['value'] : Base64.strict_decode64(body['value'])
  bytes = Zlib::Inflate.inflate(bytes) if body['encoding'] == 'gzipped'
  bytes.dup.force_encoding(body['charset'])
end

module Sidekiq
  module AsyncHttp
    class CallbackWorker
      include ::Sidekiq::Worker

      def perform(data, type, callback)
        told = { 'type' => type, 'callback' => callback, 'jid' => jid,
                 'args' => data.fetch('callback_args'), 'request_id' => data.fetch('request_id') }
        if type == 'response'
          bytes = decode(data['body'])
          told['status'] = data.fetch('status')
          told['body'] = Base64.strict_encode64(bytes.to_s)
          told['valid'] = bytes.to_s.valid_encoding?
        else
          told['error'] = data.fetch('class_name')
        end
        File.open(ENV.fetch('RESULTS'), 'a') { |file| file.syswrite("#{JSON.dump(told)}\n") }
      end
    end
  end
end
