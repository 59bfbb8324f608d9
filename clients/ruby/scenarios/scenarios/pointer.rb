# frozen_string_literal: true

module Scenarios
  # JSON pointers (RFC 6901).
  module Pointer
    # Returns the pointer of a member, given by name or number.
    def self.step(pointer, name)
      "#{pointer}/#{name.to_s.gsub('~', '~0').gsub('/', '~1')}"
    end

    # Returns what a pointer leads to. Raises ScenarioError where that is nothing.
    def self.resolve(value, pointer)
      pointer.split('/', -1).drop(1).reduce(value) do |holder, part|
        found = member(holder, part.gsub('~1', '/').gsub('~0', '~'))
        raise ScenarioError, "the reply has nothing at #{pointer}" if found.nil?

        found
      end
    end

    def self.member(holder, name)
      case holder
      when Hash then holder[name]
      when Array then name.match?(/\A\d+\z/) ? holder[name.to_i] : nil
      end
    end
    private_class_method :member
  end
end
