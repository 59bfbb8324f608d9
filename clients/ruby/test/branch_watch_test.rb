# frozen_string_literal: true

require 'support'
require 'timeout'

# Watches against a service that answers as each test scripts it.
class BranchWatchTest < Minitest::Test
  BRANCH = '0b0b0b0b-0000-4000-8000-000000000001'
  INCARNATION = '0b0b0b0b-0000-4000-8000-00000000000a'
  CUT = GRPC::Unavailable.new('cut')

  # Plays one part of the script for each call: frames to send, errors to raise, a queue to
  # wait at.
  class History < Antiphon::History::V1::HistoryService::Service
    attr_reader :requests

    def initialize(script)
      super()
      @script = script
      @requests = []
    end

    def watch_branch(request, _call)
      @requests << request
      part = @script.shift
      Enumerator.new do |frames|
        part.each do |item|
          case item
          when Exception then raise item
          when Queue then item.pop
          else frames << item
          end
        end
      end
    end
  end

  # A watch that notes its pauses in place of making them.
  class Watch < Antiphon::BranchWatch
    def pauses
      @pauses ||= []
    end

    def pause(seconds)
      pauses << seconds
    end
  end

  def change(revision, kind: :BRANCH_CHANGE_KIND_MEMBERSHIP, **more)
    Antiphon::History::V1::WatchBranchResponse.new(
      change: { revision: revision, incarnation: INCARNATION, kind: kind, **more }
    )
  end

  def frame(**content)
    Antiphon::History::V1::WatchBranchResponse.new(**content)
  end

  # Runs a block with a watch of a service with this script, and returns the requests.
  def watching(*script, after: Antiphon::BranchWatch::BEGINNING)
    history = History.new(script)
    Support.serve(history) do |address|
      stub = Antiphon::History::V1::HistoryService::Stub.new(address, :this_channel_is_insecure, timeout: 30)
      Timeout.timeout(30) { yield Watch.new(stub, BRANCH, after: after) }
    end
    history.requests
  end

  def raise_unavailable
    raise GRPC::Unavailable, 'of another call'
  end

  def position(revision)
    Antiphon::WatchPosition.new(revision, INCARNATION)
  end

  def test_tells_changes_in_order_and_where_it_stands
    told = []
    requests = watching([change(1), frame(caught_up: { revision: 1 }), frame(heartbeat: {}), change(2)]) do |watch|
      watch.first(2).each { |each| told << each.revision }

      assert_equal position(2), watch.position
    end

    assert_equal [1, 2], told
    assert_equal [Antiphon::History::V1::WatchBranchRequest.new(branch_id: BRANCH)], requests
  end

  def test_goes_on_after_a_cut_and_tells_nothing_twice
    requests = watching([change(4), change(5), CUT], [change(5), change(6)], after: position(3)) do |watch|
      assert_equal [4, 5, 6], watch.first(3).map(&:revision)
      assert_equal 1, watch.pauses.size
    end

    assert_equal [3, 5], requests.map(&:after_revision)
    assert_equal [INCARNATION] * 2, requests.map(&:incarnation)
  end

  def test_goes_on_after_an_end_without_an_error
    watching([change(1)], [change(2)]) { |watch| assert_equal [1, 2], watch.first(2).map(&:revision) }
  end

  def test_goes_on_where_a_block_left_it
    requests = watching([change(1), change(2)], [change(2), change(3)]) do |watch|
      assert_equal 2, watch.find { |each| each.revision == 2 }.revision
      assert_equal 3, watch.first.revision
    end

    assert_equal [0, 2], requests.map(&:after_revision)
  end

  def test_an_error_of_the_block_is_the_callers
    watching([change(1), change(2)]) do |watch|
      assert_raises(GRPC::Unavailable) { watch.each { |_| raise_unavailable } }
      assert_empty watch.pauses
      assert_equal 1, watch.position.revision
    end
  end

  def test_waits_longer_from_try_to_try_and_anew_once_connected
    watching([change(1), CUT], *([[CUT]] * 6), [change(2), CUT], [change(3)]) do |watch|
      assert_equal [1, 2, 3], watch.first(3).map(&:revision)
      longest = [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 0.1]

      assert_equal longest.size, watch.pauses.size
      watch.pauses.zip(longest) { |pause, limit| assert_includes (limit / 2r)..limit, pause }
    end
  end

  def test_fails_where_it_was_never_connected
    watching([CUT]) do |watch|
      assert_equal 'UNAVAILABLE', assert_raises(Antiphon::Error) { watch.first }.code_name
      assert_empty watch.pauses
    end
  end

  def test_fails_with_any_other_error
    watching([change(1), GRPC::OutOfRange.new('expired')]) do |watch|
      assert_equal 'OUT_OF_RANGE', assert_raises(Antiphon::Error) { watch.first(2) }.code_name
      assert_equal 1, watch.position.revision
    end
  end

  def test_ends_with_the_branch
    watching([change(2, kind: :BRANCH_CHANGE_KIND_DELETED), GRPC::FailedPrecondition.new('deleted')]) do |watch|
      assert_equal [2], watch.map(&:revision)
      assert_empty watch.to_a
    end
  end

  def test_fails_at_a_change_that_it_must_not_skip
    [change(1, kind: 99), change(1, operations: [{}])].each do |unknown|
      watching([unknown]) do |watch|
        assert_equal 'CHANGE_UNKNOWN', assert_raises(Antiphon::Error) { watch.first }.reason
        assert_equal 0, watch.position.revision
      end
    end
  end

  def test_skips_a_change_that_it_may
    requests = watching([change(1, kind: 99, ignorable: true), CUT], [change(2)]) do |watch|
      assert_equal 2, watch.first.revision
    end

    assert_equal [0, 1], requests.map(&:after_revision)
  end

  def test_closing_ends_a_wait
    gate = Queue.new
    watching([change(1), gate]) do |watch|
      seen = Queue.new
      reader = Thread.new { watch.each { |each| seen << each } }
      seen.pop
      watch.close

      assert reader.join(30)
      assert_empty watch.to_a
    ensure
      gate << :go
    end
  end

  def test_closing_ends_a_pause
    watch = Antiphon::BranchWatch.new(nil, BRANCH)
    pausing = Thread.new { watch.pause(60) }
    Thread.pass until pausing.status == 'sleep'
    watch.close

    assert pausing.join(30)
    assert_empty watch.to_a
  end
end
