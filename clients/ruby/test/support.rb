# frozen_string_literal: true

require 'minitest/autorun'
require 'antiphon'
require 'scenarios'

# What the tests share.
module Support
  SCENARIOS = ENV.fetch('SCENARIOS', Scenarios::Options::FOLDER)

  # Returns the cases of a file of vectors.
  def self.vectors(name)
    Scenarios::JsonText.parse(File.read(File.join(SCENARIOS, 'vectors', "#{name}.json"), encoding: 'UTF-8'))
  end

  # Returns what gRPC raises for a status with details.
  def self.refusal(code, message, *details)
    status = Google::Rpc::Status.new(code: code, message: message, details: details.map { |each| pack(each) })
    trailers = { 'grpc-status-details-bin' => Google::Rpc::Status.encode(status) }
    GRPC::BadStatus.new_status_exception(code, message, trailers)
  end

  def self.pack(detail)
    return detail if detail.is_a?(Google::Protobuf::Any)

    Google::Protobuf::Any.new(type_url: "type.googleapis.com/#{detail.class.descriptor.name}",
                              value: detail.class.encode(detail))
  end
  private_class_method :pack

  # Serves generated services on loopback while a block runs, which is given the address.
  def self.serve(*services)
    server = GRPC::RpcServer.new(pool_size: 8, poll_period: 0.05)
    port = server.add_http2_port('127.0.0.1:0', :this_port_is_insecure)
    services.each { |service| server.handle(service) }
    thread = Thread.new { server.run }
    server.wait_till_running
    yield "127.0.0.1:#{port}"
  ensure
    server.stop
    thread.join
  end
end
