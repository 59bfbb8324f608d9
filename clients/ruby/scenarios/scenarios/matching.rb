# frozen_string_literal: true

require 'digest'

module Scenarios
  # Whether an answer is the one expected.
  #
  # A member that is not there is +nil+, which no answer holds: proto3 JSON leaves it out.
  module Matching
    module_function

    # Checks an answer against an expectation whose variables are replaced. Raises Mismatch
    # where it is another, and ScenarioError where the expectation has a matcher that there
    # is not.
    def check(expected, actual, pointer = '')
      matcher = Variables.maker_of(expected)
      if matcher then by_matcher(matcher, expected[matcher], actual, pointer)
      elsif expected.is_a?(Hash) then members(expected, actual, pointer)
      elsif expected.is_a?(Array) then list(expected, actual, pointer)
      elsif !expected.eql?(actual)
        raise Mismatch.new(pointer, JsonText.show(expected), JsonText.show(actual))
      end
    end

    def by_matcher(matcher, wanted, actual, pointer)
      case matcher
      when '$absent' then absent(wanted, actual, pointer)
      when '$any' then any(wanted, actual, pointer)
      when '$exact' then exact(wanted, actual, pointer)
      when '$contains' then contains(wanted, actual, pointer)
      when '$sha256' then sha256(wanted, actual, pointer)
      when '$starts' then starts(wanted, actual, pointer)
      when '$bytes' then bytes(wanted, actual, pointer)
      else raise ScenarioError, "#{matcher} matches no value"
      end
    end

    def members(expected, actual, pointer)
      require_that(actual.is_a?(Hash), pointer, JsonText.show(expected), actual)
      expected.each { |name, member| check(member, actual[name], Pointer.step(pointer, name)) }
    end

    def list(expected, actual, pointer)
      require_that(actual.is_a?(Array), pointer, JsonText.show(expected), actual)
      require_that(expected.size == actual.size, pointer, "#{expected.size} members", actual)
      expected.each_with_index do |member, index|
        check(member, actual[index], Pointer.step(pointer, index))
      end
    end

    def absent(wanted, actual, pointer)
      raise ScenarioError, '$absent is true' unless wanted == true

      require_that(actual.nil?, pointer, 'nothing', actual)
    end

    def any(wanted, actual, pointer)
      raise ScenarioError, '$any is true' unless wanted == true

      require_that(!actual.nil?, pointer, 'any value', actual)
    end

    def exact(wanted, actual, pointer)
      members(wanted, actual, pointer)
      (actual.keys - wanted.keys).min.then do |name|
        require_that(name.nil?, Pointer.step(pointer, name), 'nothing', actual[name])
      end
    end

    def contains(wanted, actual, pointer)
      require_that(actual.is_a?(Array), pointer, "a list with #{JsonText.show(wanted)}", actual)
      wanted.each do |member|
        require_that(actual.any? { |came| matches?(member, came) }, pointer,
                     "a list with #{JsonText.show(member)}", actual)
      end
    end

    def sha256(wanted, actual, pointer)
      found = actual.is_a?(String) && Digest::SHA256.hexdigest(actual) == wanted
      require_that(found, pointer, "a text with the SHA-256 #{wanted}", actual)
    end

    def starts(wanted, actual, pointer)
      found = actual.is_a?(String) && actual.start_with?(wanted)
      require_that(found, pointer, "a text that begins with #{JsonText.show(wanted)}", actual)
    end

    def bytes(wanted, actual, pointer)
      found = actual.is_a?(String) && actual.bytesize == wanted
      require_that(found, pointer, "a text of #{wanted} bytes", actual)
    end

    def matches?(expected, actual)
      check(expected, actual)
      true
    rescue Mismatch
      false
    end

    def require_that(holds, pointer, expected, actual)
      raise Mismatch.new(pointer, expected, JsonText.show(actual)) unless holds
    end

    private_class_method :by_matcher, :members, :list, :absent, :any, :exact, :contains, :sha256, :starts,
                         :bytes, :matches?, :require_that
  end
end
