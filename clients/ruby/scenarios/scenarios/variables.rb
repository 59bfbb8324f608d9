# frozen_string_literal: true

require 'securerandom'

module Scenarios
  # The variables of one scenario, texts by name, and the values made with them.
  class Variables
    MARK = /\$\$|\$\{(?<new>new:)?(?<name>[A-Za-z_][A-Za-z0-9_]*)\}/
    MAKER = /\A\$[a-z0-9]+\z/
    # Keys that an expectation has beside those of a request: their contents are expanded,
    # they stay.
    MATCHERS = %w[$absent $any $exact $contains $sha256 $starts $bytes].freeze
    private_constant :MARK, :MAKER, :MATCHERS

    # The key of an object that makes or matches a value, such as "$repeat"; nil for any
    # other value.
    def self.maker_of(value)
      return unless value.is_a?(Hash) && value.size == 1

      value.each_key.find { |key| key.match?(MAKER) }
    end

    def initialize(values = {})
      @values = values.dup
    end

    # Keeps a reply's text, number or boolean as a text. Raises ScenarioError for any
    # other value.
    def keep(name, value)
      case value
      when String, Integer, true, false then @values[name] = value.to_s
      else
        raise ScenarioError,
              "only a text, a number or a boolean can be saved, not #{JsonText.show(value)}"
      end
    end

    # Returns a value of the file with its variables replaced and its makers made; with
    # +expected+, matchers may stand in it and stay. Raises ScenarioError where a variable
    # has no value or a maker is not one.
    def expand(value, expected: false)
      maker = Variables.maker_of(value)
      return made(maker, value[maker], expected) unless maker.nil?

      case value
      when Hash
        value.to_h { |key, member| [text(key), expand(member, expected: expected)] }
      when Array then value.map { |member| expand(member, expected: expected) }
      when String then text(value)
      else value
      end
    end

    # Returns a text with its variables replaced; what they hold is not looked into again.
    def text(template)
      template.gsub(MARK) do
        mark = Regexp.last_match
        mark[:name] ? variable(mark[:name], mark[:new]) : '$'
      end
    end

    private

    def variable(name, is_new)
      @values[name] = SecureRandom.uuid if is_new
      @values.fetch(name) { raise ScenarioError, "the variable #{name} has no value" }
    end

    def made(maker, contents, expected)
      return { maker => expand(contents, expected: true) } if expected && MATCHERS.include?(maker)

      case maker
      when '$repeat' then repeat(*expand(contents))
      when '$list' then list(*contents)
      when '$json' then JsonText.write(expand(contents))
      else raise ScenarioError, "#{maker} makes no value"
      end
    end

    def repeat(text, count)
      text * count
    end

    def list(count, member)
      outer = @values['i']
      Array.new(count) do |index|
        @values['i'] = index.to_s
        expand(member)
      end
    ensure
      outer.nil? ? @values.delete('i') : @values['i'] = outer
    end
  end
end
