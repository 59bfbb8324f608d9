# frozen_string_literal: true

module Scenarios
  # How a call failed, as values.
  class CallError
    LEAVES = %w[code reason domain metadata fields].freeze
    KEYS = [*LEAVES, 'details', 'retry'].freeze
    private_constant :LEAVES, :KEYS

    # Checks an error, nil for none, against what a step expects; +replies+ came before
    # it. Raises Mismatch, and ScenarioError where the expectation is none.
    def self.check(expected, error, replies)
      unknown = expected.keys - KEYS
      raise ScenarioError, "an error has no #{unknown.join(', ')}" unless unknown.empty?
      raise Mismatch.new('/error', JsonText.show(expected), "#{replies} replies and no error") if error.nil?

      Matching.check(expected.slice(*LEAVES), error.leaves, '/error')
      Matching.check(expected['details'], error.details, '/error/details') if expected.key?('details')
      Matching.check(expected['retry'], error.retry?, '/error/retry') if expected.key?('retry')
    end

    # Reads what a stub raised.
    def initialize(bad_status)
      @error = Antiphon::Error.of(bad_status)
    end

    # Code, reason, domain, metadata and fields, as far as they are there, as a transcript
    # has them.
    def leaves
      told = { 'code' => @error.code_name }
      unless @error.reason.nil?
        told.update('reason' => @error.reason, 'domain' => @error.domain, 'metadata' => @error.metadata)
      end
      fields = @error.field_violations.map(&:field)
      told['fields'] = fields unless fields.empty?
      told
    end

    # The details of types that are known, in proto3 JSON by type name.
    def details
      known = @error.details.grep_v(Google::Protobuf::Any)
      known.to_h { |each| [each.class.descriptor.name, Contract.to_json(each)] }
    end

    # Whether RetryInfo is among them.
    def retry?
      @error.details.any?(Google::Rpc::RetryInfo)
    end
  end
end
