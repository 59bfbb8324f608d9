# frozen_string_literal: true

module Scenarios
  # The scenario itself is wrong: it says something that the format has not.
  class ScenarioError < StandardError
  end

  # An answer is not the one expected.
  class Mismatch < StandardError
    # The JSON pointer of what differs.
    attr_reader :pointer

    # Says where, what was expected, and what came.
    def initialize(pointer, expected, actual)
      super("at #{pointer.empty? ? 'the top' : pointer}: expected #{expected}, got #{actual}")
      @pointer = pointer
    end
  end
end
