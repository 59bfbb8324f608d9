# frozen_string_literal: true

module Scenarios
  # The contract's methods by name, with what they take and give.
  module Contract
    SERVICES = [
      Antiphon::History::V1::HistoryService::Service,
      Antiphon::History::V1::ExchangeService::Service,
      Antiphon::Compiler::V1::CompilerService::Service
    ].to_h { |service| [service.service_name, service] }.freeze
    private_constant :SERVICES

    # One method of a service: +request+ and +reply+ are message classes.
    Rpc = Struct.new(:service, :name, :request, :reply, :client_streaming, :server_streaming,
                     keyword_init: true) do
      # Its path on the wire.
      def path
        "/#{service}/#{name}"
      end

      # Returns the bytes of a request given in proto3 JSON. Raises ScenarioError where it
      # is none.
      def encode(told)
        request.encode(request.decode_json(JsonText.write(told)))
      rescue Google::Protobuf::ParseError => e
        raise ScenarioError, "no #{request.descriptor.name}: #{e.message}"
      end

      # Decodes a reply. Raises ScenarioError where the bytes are none.
      def decode(bytes)
        reply.decode(bytes)
      rescue Google::Protobuf::ParseError
        raise ScenarioError, "the reply is no #{reply.descriptor.name}"
      end
    end

    # Returns the Rpc that "package.Service/Method" names. Raises ScenarioError where
    # there is none.
    def self.rpc_named(path)
      service_name, name = path.split('/', 2)
      description = SERVICES[service_name]&.rpc_descs&.[](name&.to_sym)
      raise ScenarioError, "there is no method #{path}" if description.nil?

      Rpc.new(service: service_name, name: name,
              request: type_of(description.input), reply: type_of(description.output),
              client_streaming: stream?(description.input), server_streaming: stream?(description.output))
    end

    # Returns a message in proto3 JSON.
    def self.to_json(message)
      JsonText.parse(message.to_json)
    end

    def self.stream?(side)
      side.is_a?(GRPC::RpcDesc::Stream)
    end

    def self.type_of(side)
      stream?(side) ? side.type : side
    end

    private_class_method :stream?, :type_of
  end
end
