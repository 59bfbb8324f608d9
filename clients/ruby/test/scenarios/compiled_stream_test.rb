# frozen_string_literal: true

require 'support'

class CompiledStreamTest < Minitest::Test
  START = { message_start: { role: :ROLE_USER } }.freeze
  FINISH = { message_end: {} }.freeze
  LAST = { result: { last: true, message_count: 1 } }.freeze
  PARTS = [
    { message_start: { index: 2, role: :ROLE_TOOL } },
    { part_chunk: { text: 'c' } },
    { part_chunk: { text: 'd' } },
    { part_chunk: { part_index: 1, image_url: { url: 'e', detail: :IMAGE_DETAIL_LOW } } },
    { part_chunk: { part_index: 1, image_url: { url: 'f', detail: :IMAGE_DETAIL_LOW } } },
    { part_chunk: { part_index: 2, whole: { json: { value_json: '1' } } } },
    { message_end: { index: 2 } }
  ].freeze

  def assemble(*frames)
    Scenarios::CompiledStream.assemble(
      frames.map { |frame| Antiphon::Compiler::V1::StreamCompileResponse.new(**frame) }
    )
  end

  def test_is_what_compile_would_have_answered
    parts = [{ text: { text: 'cd' } }, { image_url: { url: 'ef', detail: :IMAGE_DETAIL_LOW } },
             { json: { value_json: '1' } }]
    expected = Antiphon::Compiler::V1::CompileResponse.new(
      messages: [{ role: :ROLE_USER, text: 'ab' }, { text: '' }, { role: :ROLE_TOOL, parts: { parts: parts } }],
      system_text: 's', messages_digest: 'm', request_digest: 'r', provider_request_json: '{"é":1}'
    )

    assert_equal expected, assemble(
      START, { text_chunk: { text: 'a' } }, { text_chunk: { text: 'b' } }, FINISH,
      { message_start: { index: 1 } }, { message_end: { index: 1 } }, *PARTS,
      { request_chunk: { text: '{"é' } }, { request_chunk: { text: '":1}' } }, { result: { system_text: 's' } },
      { result: { last: true, message_count: 3, messages_digest: 'm', request_digest: 'r' } }
    )
  end

  def test_has_no_providers_request_without_its_digest
    refute_predicate assemble({ result: { last: true } }), :has_provider_request_json?
  end

  def test_refuses_frames_out_of_turn
    whole = { part_chunk: { whole: {} } }
    [
      [], [START, FINISH], [START, LAST], [START, START, FINISH, LAST], [FINISH], [LAST], [{}],
      [START, { message_end: { index: 1 } }],
      [START, { part_chunk: { part_index: 1, text: 'a' } }],
      [START, whole, whole, FINISH],
      [START, whole, { part_chunk: { text: 'a' } }, FINISH],
      [{ message_start: { index: 1 } }], [{ text_chunk: { text: 'a' } }], [whole],
      [START, FINISH, LAST, LAST]
    ].each { |frames| assert_raises(Scenarios::Mismatch, frames.to_s) { assemble(*frames) } }
  end
end
