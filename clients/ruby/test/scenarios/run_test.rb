# frozen_string_literal: true

require 'services'
require 'timeout'

# Scenarios against services of fixed answers.
class RunTest < Minitest::Test
  HISTORY = 'antiphon.history.v1.HistoryService/'
  CLEAR = { 'call' => "#{HISTORY}ClearMessages", 'request' => {} }.freeze
  # expectedRevision is there.
  REFUSED = { 'call' => "#{HISTORY}ClearMessages", 'request_hex' => '1000' }.freeze
  EXPORT = { 'call' => "#{HISTORY}ExportBranch", 'request' => {} }.freeze
  WATCH = { 'call' => "#{HISTORY}WatchBranch", 'request' => {} }.freeze
  COMPILE = { 'call' => 'antiphon.compiler.v1.CompilerService/Compile' }.freeze
  ERROR = { 'reason' => 'STORE_BUSY' }.freeze

  # Runs steps; returns the Run.
  def run_steps(*steps)
    history = Services::History.new
    scenario = Scenarios::Scenario.new('n', steps)
    Support.serve(history, Services::Compiler.new) do |address|
      pair = Scenarios::Pair.new(address, address)
      Timeout.timeout(30) do
        run = Scenarios::Run.new(scenario, pair, []).call
        yield history if block_given?
        run
      end
    end
  end

  def assert_passes(*steps)
    run = run_steps(*steps)

    assert_nil run.fault
    run
  end

  def assert_fault(fault, *steps)
    assert_includes run_steps(*steps).fault.to_s, fault
  end

  def heartbeats(*revisions)
    revisions.map { |revision| { 'heartbeat' => { 'revision' => revision.to_s } } }
  end

  def test_passes_and_writes_what_came
    error = { **ERROR, 'code' => 'UNAVAILABLE', 'metadata' => { 'k' => 'v' }, 'retry' => true,
                       'fields' => ['a.b'], 'details' => { 'google.rpc.RetryInfo' => {} } }
    run = assert_passes(
      { **CLEAR, 'save' => { 'r' => '/revision' }, 'expect' => { 'reply' => { 'revision' => (2**60).to_s } } },
      { **CLEAR, 'request' => { 'branchId' => '${r}' }, 'metadata' => { 'x-tenant' => 't1' },
                 'expect' => { 'reply' => { 'revision' => '${r}', 'replayed' => true } } },
      { **REFUSED, 'expect' => { 'error' => error } }
    )

    assert_equal ["0\t0\t/revision\ts\t1152921504606846976\n",
                  "1\t0\t/replayed\tb\ttrue\n", "1\t0\t/revision\ts\t1152921504606846976\n",
                  "2\terror\t/code\ts\tUNAVAILABLE\n", "2\terror\t/domain\ts\tantiphon.history\n",
                  "2\terror\t/fields/0\ts\ta.b\n", "2\terror\t/metadata/k\ts\tv\n",
                  "2\terror\t/reason\ts\tSTORE_BUSY\n"], run.transcript.lines
  end

  def test_sends_all_of_a_client_stream
    requests = %w[a b].map { |key| { 'head' => { 'externalKey' => key } } }
    assert_passes({ 'call' => "#{HISTORY}ImportBranch", 'requests' => requests,
                    'expect' => { 'reply' => { 'branch' => { 'externalKey' => 'a,b' } } } })
  end

  def test_reads_a_stream_that_breaks_off
    assert_passes({ **EXPORT, 'expect' => { 'count' => 2, 'error' => ERROR } },
                  { **EXPORT, 'expect' => { 'replies' => [{}, {}], 'error' => ERROR } },
                  { **EXPORT, 'take' => 2, 'expect' => { 'count' => 2 } })
    assert_fault 'no error', { **EXPORT, 'expect' => { 'count' => 2 } }
    assert_fault '3 replies', { **EXPORT, 'expect' => { 'count' => 3, 'error' => ERROR } }
    assert_fault '3 replies', { **EXPORT, 'take' => 3, 'expect' => { 'error' => ERROR } }
  end

  def test_fails_at_another_answer_and_keeps_what_came
    run = run_steps(CLEAR, { **CLEAR, 'expect' => { 'reply' => { 'revision' => '2' } } }, CLEAR)

    assert_equal "step 1, call #{HISTORY}ClearMessages: at /revision: " \
                 'expected "2", got "1152921504606846976"', run.fault
    assert_equal 2, run.transcript.lines.size
  end

  def test_fails_at_another_error
    assert_fault '/error: expected', { **CLEAR, 'expect' => { 'error' => { 'code' => 'ABORTED' } } }
    assert_fault 'no error', REFUSED
    { 'code' => 'ABORTED', 'retry' => false, 'metadata' => { 'k' => 'w' }, 'fields' => [],
      'details' => { 'google.rpc.DebugInfo' => {} } }.each do |name, member|
      assert_fault "/error/#{name}", { **REFUSED, 'expect' => { 'error' => { name => member } } }
    end
  end

  def test_checks_digests
    digest = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    snapshot = { 'call' => "#{HISTORY}ReadSnapshot" }

    assert_equal 1, assert_passes({ **COMPILE, 'request' => {} }).digests
    assert_equal 2, assert_passes({ **COMPILE, 'request' => { 'target' => digest } }).digests
    assert_equal 0, assert_passes({ **snapshot, 'request' => { 'sinceRevision' => '1' } }).digests
    assert_fault '/messagesDigest', { **COMPILE, 'request' => { 'structure' => 'x' } }
    assert_fault '/requestDigest', { **COMPILE, 'request' => { 'target' => '0' } }
    assert_fault 'whole snapshot', { **snapshot, 'request' => {} }
  end

  def test_reads_an_open_stream_in_pieces_and_ends_it
    run_steps({ **WATCH, 'open' => 'w' },
              { 'read' => 'w', 'count' => 1, 'expect' => { 'replies' => heartbeats(1) } },
              { 'read' => 'w', 'count' => 2, 'expect' => { 'replies' => heartbeats(2, 3) } },
              { 'cancel' => 'w' }, CLEAR) { |history| assert history.ended.pop }
      .then { |run| assert_nil run.fault }
  end

  def test_ends_streams_that_are_open_after_a_failure
    run = run_steps({ **WATCH, 'open' => 'w' }, { 'read' => 'w', 'count' => 1 }, { 'read' => 'v' }) do |history|
      assert history.ended.pop
    end

    assert_includes run.fault, 'no stream v is open'
  end

  def test_a_deadline_ends_a_call
    run = assert_passes({ **WATCH, 'timeout_ms' => 100, 'expect' => { 'error' => { 'code' => 'DEADLINE_EXCEEDED' } } })

    assert_equal "0\terror\t/code\ts\tDEADLINE_EXCEEDED\n", run.transcript.lines.last
  end

  def test_fails_at_what_the_format_has_not
    {
      'a step has no later' => { **CLEAR, 'later' => 1 },
      'an expectation has no rely' => { **CLEAR, 'expect' => { 'rely' => {} } },
      'no antiphon.history.v1.ClearMessagesRequest' => { **CLEAR, 'request' => { 'branch' => 'b' } },
      'there is no method' => { **CLEAR, 'call' => "#{HISTORY}Clear" },
      'nothing at /rev' => { **CLEAR, 'save' => { 'r' => '/rev' } },
      'needs requests' => { 'call' => "#{HISTORY}ImportBranch" },
      'an error has no cause' => { **REFUSED, 'expect' => { 'error' => { 'cause' => 'x' } } }
    }.each { |fault, step| assert_fault fault, step }
  end
end
