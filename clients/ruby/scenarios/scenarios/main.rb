# frozen_string_literal: true

require 'fileutils'

module Scenarios
  # The runner's program.
  class Main
    # Runs the scenarios that the arguments name, writes a line for each to +output+, and
    # returns the exit code: 0 when all passed, 1 when one failed, 2 on wrong usage.
    def self.run(arguments, output: $stdout, errors: $stderr)
      new(Options.parse(arguments), output).run
    rescue UsageError, ScenarioError, SystemCallError => e
      errors.puts "scenarios: #{e.message}", Options::USAGE
      2
    end

    # Raises ScenarioError and SystemCallError where the scenarios cannot be read.
    def initialize(options, output)
      @options = options
      @output = output
      @volatile = Scenario.load_volatile(options.scenarios)
      @chosen = chosen(Scenario.load_all(options.scenarios))
      FileUtils.mkdir_p(options.transcripts) if options.transcripts
    end

    # Runs the scenarios; returns 0 when all passed, else 1.
    def run
      pair = Pair.new(@options.history, @options.compiler)
      runs = @chosen.map do |scenario|
        run = Run.new(scenario, pair, @volatile).call
        tell(scenario, run)
        run
      end
      runs.all? { |run| run.fault.nil? } ? 0 : 1
    end

    private

    def chosen(scenarios)
      only = @options.only
      return scenarios if only.nil?

      unknown = only - scenarios.map(&:name)
      raise ScenarioError, "there is no scenario #{unknown.join(', ')}" unless unknown.empty?

      scenarios.select { |scenario| only.include?(scenario.name) }
    end

    def tell(scenario, run)
      told = { scenario: scenario.name, ok: run.fault.nil?, steps: scenario.steps.size, digests: run.digests,
               transcript: run.transcript.digest }
      told[:message] = run.fault unless run.fault.nil?
      @output.puts JsonText.write(told)
      @output.flush
      return if @options.transcripts.nil?

      File.binwrite(File.join(@options.transcripts, "#{scenario.name}.txt"), run.transcript.text)
    end
  end
end
