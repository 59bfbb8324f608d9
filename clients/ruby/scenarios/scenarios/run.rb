# frozen_string_literal: true

module Scenarios
  # Runs one scenario on a pair.
  class Run
    STEP_KEYS = {
      'call' => %w[call request requests request_hex metadata timeout_ms take expect save],
      'open' => %w[open call request request_hex metadata timeout_ms],
      'read' => %w[read count expect save],
      'cancel' => %w[cancel]
    }.freeze
    EXPECT_KEYS = %w[reply replies count error].freeze
    private_constant :STEP_KEYS, :EXPECT_KEYS

    # What was answered, a Transcript.
    attr_reader :transcript

    # How many digests were checked.
    attr_reader :digests

    # What went wrong, for people; nil: nothing.
    attr_reader :fault

    # +volatile+ as for Transcript.
    def initialize(scenario, pair, volatile)
      @scenario = scenario
      @variables = Variables.new
      @caller = Caller.new(pair, @variables)
      @streams = {}
      @transcript = Transcript.new(volatile)
      @digests = 0
    end

    # Runs the steps up to the first that fails, and returns itself.
    def call
      @scenario.steps.each_with_index do |step, number|
        run(number, step)
      rescue Mismatch, ScenarioError => e
        @fault = "step #{number}, #{title(step)}: #{e.message}"
        break
      end
      self
    ensure
      @streams.each_value(&:cancel)
    end

    private

    def kind_of(step)
      %w[open read cancel].find { |kind| step.key?(kind) } || 'call'
    end

    def title(step)
      kind = kind_of(step)
      "#{kind} #{step[kind]}"
    end

    def run(number, step)
      kind = kind_of(step)
      only(step, STEP_KEYS.fetch(kind), 'a step')
      case kind
      when 'open' then @streams[step['open']] = @caller.start(step)
      when 'read' then answers(number, step, stream(step['read']), step['count'])
      when 'cancel' then stream(step['cancel']).cancel
      else run_call(number, step)
      end
    end

    def run_call(number, step)
      stream = @caller.start(step)
      replies = answers(number, step, stream, step['take'])
      succeeded = stream.ended? && stream.error.nil?
      @digests += Digests.check(stream.rpc, step['request'], replies) if succeeded
    ensure
      stream&.cancel
    end

    def stream(name)
      @streams.fetch(name) { raise ScenarioError, "no stream #{name} is open" }
    end

    # Reads answers, writes them down, and checks and keeps what the step says.
    def answers(number, step, stream, count)
      replies = stream.read(count)
      short = !count.nil? && replies.size < count
      error = stream.error if count.nil? || short
      told = write_down(number, replies, error)
      check(@variables.expand(step.fetch('expect', {}), expected: true), stream.rpc, told, error)
      raise Mismatch.new('', "#{count} replies", "#{replies.size}, then the end") if short

      keep(step, stream.rpc.server_streaming ? told : told.first)
      replies
    end

    def write_down(number, replies, error)
      told = replies.map { |reply| Contract.to_json(reply) }
      told.each_with_index { |reply, index| @transcript.add(number, index, reply) }
      @transcript.add(number, 'error', error.leaves) unless error.nil?
      told
    end

    def check(expect, rpc, told, error)
      only(expect, EXPECT_KEYS, 'an expectation')
      raise Mismatch.new('', 'no error', JsonText.show(error.leaves)) if error && !expect.key?('error')

      Matching.check(expect['reply'], rpc.server_streaming ? nil : told.first) if expect.key?('reply')
      Matching.check(expect['replies'], told) if expect.key?('replies')
      check_count(expect['count'], told.size) if expect.key?('count')
      CallError.check(expect['error'], error, told.size) if expect.key?('error')
    end

    def check_count(expected, actual)
      raise Mismatch.new('', "#{expected} replies", actual) unless expected == actual
    end

    def keep(step, told)
      step.fetch('save', {}).each do |name, pointer|
        @variables.keep(name, Pointer.resolve(told, pointer))
      end
    end

    def only(told, known, what)
      unknown = told.keys - known
      raise ScenarioError, "#{what} has no #{unknown.join(', ')}" unless unknown.empty?
    end
  end
end
