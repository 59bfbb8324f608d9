# frozen_string_literal: true

module Scenarios
  # Makes the calls that steps say.
  class Caller
    DEFAULT_TIMEOUT_MS = 60_000
    private_constant :DEFAULT_TIMEOUT_MS

    def initialize(pair, variables)
      @pair = pair
      @variables = variables
    end

    # Returns the Replies of a step's call. Raises ScenarioError where the step says none.
    def start(step)
      rpc = Contract.rpc_named(step['call'])
      metadata = step.fetch('metadata', {}).transform_values { |text| @variables.text(text) }
      timeout = step.fetch('timeout_ms', DEFAULT_TIMEOUT_MS)
      @pair.start(Call.new(rpc, requests(rpc, step), metadata, timeout))
    end

    private

    def requests(rpc, step)
      return [[@variables.text(step['request_hex'])].pack('H*')] if step.key?('request_hex')

      told = rpc.client_streaming ? step.fetch('requests') : [step.fetch('request')]
      @variables.expand(told).map { |request| rpc.encode(request) }
    rescue KeyError => e
      raise ScenarioError, "#{rpc.path} needs #{e.key}"
    end
  end
end
