# frozen_string_literal: true

require 'support'

class SnapshotTest < Minitest::Test
  # An unknown field stands first: a decoder would not write these bytes again.
  STORED = %w[a b c].map do |id|
    "\xfa\x3e\x01x".b + Antiphon::Message::V1::Message.encode(Antiphon::Message::V1::Message.new(id: id))
  end.freeze

  def frame(**content)
    Antiphon::History::V1::ReadSnapshotResponse.new(**content)
  end

  def header(count = 3, **more)
    frame(header: { revision: 7, incarnation: 'i', message_count: count, **more })
  end

  def order(*ids)
    frame(order: { message_ids: ids })
  end

  def batch(*stored)
    frame(batch: { messages: stored })
  end

  def footer(count = 3, stored = STORED)
    frame(footer: { message_count: count, sha256: Digest::SHA256.digest(stored.join) })
  end

  def joined(*frames)
    all = frames.group_by(&:frame).transform_values { |some| some.map { |one| one.public_send(one.frame) } }
    frame(joined: { header: all[:header]&.first, orders: all.fetch(:order, []), deltas: all.fetch(:delta, []),
                    batches: all.fetch(:batch, []), footer: all[:footer]&.first })
  end

  def whole
    [header, order('a', 'b'), order('c'), batch(*STORED[0, 2]), batch(STORED[2]), footer]
  end

  def assert_truncated(*frames)
    error = assert_raises(Antiphon::Error, frames.inspect) { Antiphon::Snapshot.assemble(frames) }

    assert_equal %w[SNAPSHOT_TRUNCATED DATA_LOSS], [error.reason, error.code_name]
  end

  def test_is_what_the_frames_hold
    snapshot = Antiphon::Snapshot.assemble(whole)

    assert_equal 7, snapshot.header.revision
    assert_equal %w[a b c], snapshot.message_ids
    assert_equal STORED, snapshot.stored_messages
    assert_equal %w[a b c], snapshot.messages.map(&:id)
  end

  def test_may_be_empty
    assert_empty Antiphon::Snapshot.assemble([header(0), footer(0, [])]).messages
  end

  def test_is_the_same_where_frames_are_joined
    single = Antiphon::Snapshot.assemble(whole)
    some = [header, joined(order('a', 'b'), order('c')), joined, joined(*whole.drop(3))]
    [[joined(*whole)], some].each do |frames|
      snapshot = Antiphon::Snapshot.assemble(frames)

      assert_equal single.header, snapshot.header
      assert_equal single.message_ids, snapshot.message_ids
      assert_equal single.stored_messages, snapshot.stored_messages
    end
  end

  def test_is_refused_where_a_joined_frame_has_no_place
    assert_truncated(joined(*whole.drop(1)))
    assert_truncated(joined(*whole[0..-2]))
    assert_truncated(joined(*whole), joined(*whole))
    assert_truncated(joined(header, batch(*STORED[0, 2])), joined(order('a', 'b', 'c'), batch(STORED[2]), footer))
    assert_truncated(joined(*whole, frame(delta: {})))
  end

  def test_is_refused_where_a_frame_is_missing
    whole.each_index { |index| assert_truncated(*whole.reject.with_index { |_, other| other == index }) }
    assert_truncated
  end

  def test_is_refused_where_a_count_differs
    assert_truncated(header(2), *whole.drop(1))
    assert_truncated(*whole[0..-2], footer(2))
    assert_truncated(header, order('a', 'b'), *whole.drop(3))
  end

  def test_is_refused_where_a_byte_differs
    changed = STORED[0].sub('x', 'y')

    assert_truncated(header, order('a', 'b', 'c'), batch(changed, *STORED.drop(1)), footer)
    assert_truncated(header, order('a', 'b', 'c'), batch(*STORED.reverse), footer)
  end

  def test_is_refused_where_a_frame_has_no_place
    assert_truncated(*whole, footer)
    assert_truncated(header, *whole)
    assert_truncated(order('a'), *whole)
    assert_truncated(header, order('a', 'b'), batch(*STORED), order('c'), footer)
    assert_truncated(header, frame(delta: {}), *whole.drop(1))
    assert_truncated(header, frame, *whole.drop(1))
    assert_truncated(header(3, is_delta: true), *whole.drop(1))
  end

  def test_its_messages_are_those_that_the_order_names
    [%w[a c b], nil].each do |ids|
      stored = ids ? STORED : ["\x08".b] * 3
      snapshot = Antiphon::Snapshot.assemble([header, order(*(ids || %w[a b c])), batch(*stored), footer(3, stored)])

      assert_equal 'SNAPSHOT_TRUNCATED', assert_raises(Antiphon::Error) { snapshot.messages }.reason
    end
  end
end
