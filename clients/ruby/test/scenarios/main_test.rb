# frozen_string_literal: true

require 'services'
require 'stringio'
require 'tmpdir'

class MainTest < Minitest::Test
  STEP = { call: 'antiphon.history.v1.HistoryService/ClearMessages', request: {} }.freeze

  def setup
    @folder = Dir.mktmpdir('scenarios')
    File.write(path('volatile.json'), '["revision"]')
    write('b', STEP)
    write('a', { **STEP, expect: { reply: { replayed: true } } }, STEP)
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  def path(name)
    File.join(@folder, name)
  end

  def write(name, *steps, **more)
    told = { name: name, about: 'x', topics: [], steps: steps, **more }
    File.write(path("#{name}.json"), JSON.generate(told))
  end

  # Runs the program; returns its exit code, its lines and its complaints.
  def main(*arguments)
    output = StringIO.new
    errors = StringIO.new
    code = Support.serve(Services::History.new) do |address|
      Scenarios::Main.run(['--history', address, '--compiler', address, '--scenarios', @folder, *arguments],
                          output: output, errors: errors)
    end
    [code, output.string.lines.map { |line| JSON.parse(line) }, errors.string]
  end

  def test_tells_every_scenario_in_order_and_writes_transcripts
    code, lines, = main('--transcripts', path('t/u'))
    text = "0\t0\t/revision\ts\t<revision>\n"
    told = { 'steps' => 1, 'digests' => 0, 'transcript' => Digest::SHA256.hexdigest(text) }

    assert_equal 1, code
    assert_match(%r{\Astep 0, .*/replayed}, lines.first.delete('message'))
    assert_equal [{ **told, 'scenario' => 'a', 'ok' => false, 'steps' => 2 },
                  { **told, 'scenario' => 'b', 'ok' => true }], lines
    assert_equal text, File.binread(path('t/u/a.txt'))
    assert_equal text, File.binread(path('t/u/b.txt'))
  end

  def test_runs_the_named_alone
    code, lines, = main('--only', 'b')

    assert_equal [0, ['b']], [code, lines.map { |line| line['scenario'] }]
    assert_equal(2, main('--only', 'a', 'b')[1].size)
  end

  def test_wrong_usage_is_told
    [%w[--only c], %w[--only], %w[--later x], %w[--transcripts a b], %w[--scenarios /nowhere]].each do |arguments|
      code, lines, errors = main(*arguments)

      assert_equal [2, []], [code, lines], arguments.to_s
      assert_includes errors, 'usage: '
    end
    assert_raises(Scenarios::UsageError) { Scenarios::Options.parse(%w[--history h]) }
    assert_raises(Scenarios::UsageError) { Scenarios::Options.parse(%w[h --history h --compiler c]) }
  end

  def test_a_file_that_is_no_scenario_is_told
    [['c', { name: 'd' }], ['c', { later: 1 }]].each do |name, more|
      write(name, **more)

      assert_equal 2, main.first
    end
    File.write(path('c.json'), '{')

    assert_equal 2, main.first
  end
end
