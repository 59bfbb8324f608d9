# frozen_string_literal: true

require 'support'

class VariablesTest < Minitest::Test
  def setup
    @variables = Scenarios::Variables.new
  end

  def test_makes_an_id_and_keeps_it
    id = @variables.text('${new:a}')

    assert_match(/\A\h{8}-\h{4}-4\h{3}-[89ab]\h{3}-\h{12}\z/, id)
    assert_equal "#{id}!", @variables.text('${a}!')
    refute_equal id, @variables.text('${new:a}')
  end

  def test_keeps_texts_numbers_and_booleans
    { 'é' => 'é', 7 => '7', false => 'false', (2**64) => '18446744073709551616' }.each do |value, text|
      @variables.keep('v', value)

      assert_equal text, @variables.text('${v}')
    end
    [{}, [], nil].each { |value| assert_raises(Scenarios::ScenarioError) { @variables.keep('v', value) } }
  end

  def test_pointers_lead_to_members
    value = { 'a/b' => [{ '~' => 'x', '' => 'y' }] }

    assert_equal 'x', Scenarios::Pointer.resolve(value, '/a~1b/0/~0')
    assert_equal 'y', Scenarios::Pointer.resolve(value, '/a~1b/0/')
    assert_same value, Scenarios::Pointer.resolve(value, '')
    %w[/a /a~1b/1 /a~1b/-1 /a~1b/x /a~1b/0/~0/z].each do |pointer|
      assert_raises(Scenarios::ScenarioError, pointer) { Scenarios::Pointer.resolve(value, pointer) }
    end
  end
end
