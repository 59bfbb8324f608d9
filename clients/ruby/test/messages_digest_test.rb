# frozen_string_literal: true

require 'support'

class MessagesDigestTest < Minitest::Test
  Support.vectors('digests').each_with_index do |vector, index|
    define_method("test_vector_#{index}") do
      told = Scenarios::JsonText.write(vector['response'])
      response = Antiphon::Compiler::V1::CompileResponse.decode_json(told)

      assert_equal vector['digest'], Antiphon::MessagesDigest.of(response), vector['about']
    end
  end

  def test_refuses_what_it_does_not_know
    call = { content: [{ tool_call: { id: 'c' } }] }
    [{}, { parts: { parts: [{}] } }, { parts: { parts: [{ tool_result: call }] } }].each do |message|
      response = Antiphon::Compiler::V1::CompileResponse.new(messages: [message])

      assert_raises(ArgumentError, message.to_s) { Antiphon::MessagesDigest.of(response) }
    end
  end
end
