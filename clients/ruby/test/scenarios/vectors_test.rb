# frozen_string_literal: true

require 'support'

# The vectors that every language's runner reads.
class VectorsTest < Minitest::Test
  Support.vectors('values').each_with_index do |vector, index|
    define_method("test_value_#{index}") do
      variables = Scenarios::Variables.new(vector['variables'])
      make = -> { variables.expand(vector['value'], expected: vector.fetch('expected', false)) }
      if vector['fails']
        assert_raises(Scenarios::ScenarioError, vector['about'], &make)
      else
        assert_equal vector['made'], make.call, vector['about']
      end
    end
  end

  Support.vectors('matching').each_with_index do |vector, index|
    define_method("test_match_#{index}") do
      mismatch = mismatch_of(vector['expected'], vector['actual'])

      assert_equal vector['matches'], mismatch.nil?, vector['about']
      assert_equal vector['pointer'], mismatch.pointer, vector['about'] unless mismatch.nil?
    end
  end

  def mismatch_of(expected, actual)
    Scenarios::Matching.check(expected, actual)
    nil
  rescue Scenarios::Mismatch => e
    e
  end

  Support.vectors('transcripts').each_with_index do |vector, index|
    define_method("test_transcript_#{index}") do
      transcript = Scenarios::Transcript.new(vector['volatile'])
      vector['answers'].each { |answer| transcript.add(*answer.values_at('step', 'reply', 'value')) }

      assert_equal vector['lines'].map { |line| "#{line}\n" }, transcript.lines, vector['about']
      assert_equal vector['digest'], transcript.digest, vector['about']
    end
  end
end
