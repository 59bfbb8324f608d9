# frozen_string_literal: true

require 'google/rpc/error_details_pb'
require 'google/rpc/status_pb'
require 'grpc'

module Antiphon
  # A failed call in Antiphon's terms: its gRPC code, its reason and the facts that
  # came with it.
  #
  # The reasons, and what a caller does about each, are in +errors.proto+ of each
  # service. A failure of the transport, a passed deadline and a cancelled call have a
  # code and no reason.
  class Error < StandardError
    # A field that breaks its rule: its path in the request, such as
    # "messages[3].id", and what is wrong with it, for people.
    FieldViolation = Struct.new(:field, :description)

    CODE_NAMES = GRPC::Core::StatusCodes.constants.to_h do |name|
      [GRPC::Core::StatusCodes.const_get(name), name.to_s]
    end.freeze
    private_constant :CODE_NAMES

    # The gRPC code, a number of GRPC::Core::StatusCodes.
    attr_reader :code

    # All details as messages, in order; one of a type that is not loaded stands as
    # the Google::Protobuf::Any it came in.
    attr_reader :details

    # Reads what a stub raised, a GRPC::BadStatus; never fails.
    def self.of(bad_status)
      status = bad_status.to_rpc_status
      message = status.nil? ? bad_status.details : status.message
      new(bad_status.code, message, status.nil? ? [] : status.details.map { |each| unpack(each) })
    end

    # Makes an error that this library found itself, in what a service sent.
    def self.found(code, reason, message)
      new(code, message, [Google::Rpc::ErrorInfo.new(reason: reason)])
    end

    def self.unpack(any)
      type = Google::Protobuf::DescriptorPool.generated_pool.lookup(any.type_url.rpartition('/').last)
      type.nil? ? any : type.msgclass.decode(any.value)
    rescue Google::Protobuf::ParseError
      any
    end
    private_class_method :unpack

    def initialize(code, message, details)
      super(message)
      @code = code
      @details = details
    end

    # The code's name, such as "ABORTED".
    def code_name
      CODE_NAMES.fetch(code) { code.to_s }
    end

    # The reason, such as "REVISION_CONFLICT"; nil where no service gave one.
    def reason
      info&.reason
    end

    # "antiphon.history" or "antiphon.compiler"; nil where no service spoke.
    def domain
      info&.domain
    end

    # The facts by name, as texts; +errors.proto+ lists them by reason.
    def metadata
      info.nil? ? {} : info.metadata.to_h
    end

    # The fields that break their rules: 50 at most, +violation_count+ in the metadata
    # counts all.
    def field_violations
      found = detail(Google::Rpc::BadRequest)
      found.nil? ? [] : found.field_violations.map { |each| FieldViolation.new(each.field, each.description) }
    end

    # The History::V1::RevisionConflict with the expected and the actual revision; nil
    # for every other reason.
    def revision_conflict
      detail(History::V1::RevisionConflict)
    end

    # Seconds to wait before the call is sent again, a Rational; nil where the service
    # does not say.
    def retry_after
      delay = detail(Google::Rpc::RetryInfo)&.retry_delay
      delay && (delay.seconds + Rational(delay.nanos, 1_000_000_000))
    end

    private

    def info
      detail(Google::Rpc::ErrorInfo)
    end

    def detail(type)
      details.find { |each| each.is_a?(type) }
    end
  end
end
