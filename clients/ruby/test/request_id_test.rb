# frozen_string_literal: true

require 'support'

class RequestIdTest < Minitest::Test
  def test_is_a_canonical_uuid_of_version7
    ids = Array.new(100) { Antiphon::RequestId.create }

    assert_equal 100, ids.uniq.size
    ids.each { |id| assert_match(/\A\h{8}-\h{4}-7\h{3}-[89ab]\h{3}-\h{12}\z/, id) }
  end

  def test_begins_with_the_time_in_milliseconds_and_its_fraction
    id = Antiphon::RequestId.create(Time.at(1_700_000_000, 123_500_000, :nsec))

    assert_equal '018bcfe5-687b-7800', id[0, 18]
  end

  def test_has_all_its_digits_early_in_time
    assert_match(/\A00000000-0001-7000-/, Antiphon::RequestId.create(Time.at(0, 1_000_000, :nsec)))
  end
end
