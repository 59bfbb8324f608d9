# frozen_string_literal: true

module Scenarios
  # The command line is wrong.
  class UsageError < StandardError
  end

  # The runner's command line: addresses, the scenarios' folder, the names to run (nil:
  # all), and where transcripts go (nil: nowhere).
  Options = Struct.new(:history, :compiler, :scenarios, :only, :transcripts, keyword_init: true) do
    # Reads the arguments. Raises UsageError where they are wrong.
    def self.parse(arguments)
      options = new(scenarios: Options::FOLDER)
      arguments.slice_before(/\A--/).each { |option, *values| options.take(option, values) }
      raise UsageError, '--history and --compiler are needed' unless options.history && options.compiler

      options
    end

    # Takes one option with the values that follow it.
    def take(option, values)
      name = option.delete_prefix('--')
      known = option.start_with?('--') && members.include?(name.to_sym)
      raise UsageError, "there is no option #{option}" unless known

      enough = name == 'only' ? values.any? : values.size == 1
      raise UsageError, "#{option} with #{values.size} values" unless enough

      self[name] = name == 'only' ? values : values.first
    end
  end

  Options::USAGE = 'usage: ruby scenarios/main.rb --history HOST:PORT --compiler HOST:PORT ' \
                   '[--scenarios DIR] [--only NAME ...] [--transcripts DIR]'
  Options::FOLDER = File.expand_path('../../../../tests/contract/scenarios', __dir__)
end
