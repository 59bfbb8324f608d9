# frozen_string_literal: true

require 'digest'

module Scenarios
  # What was answered in one scenario, as lines that are equal in every language.
  class Transcript
    UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
    ESCAPES = { '\\' => '\\\\', "\t" => '\\t', "\n" => '\\n', "\r" => '\\r' }.freeze
    # A leaf: where it is, the name of the member that it is or is listed in, type and text.
    Leaf = Struct.new(:pointer, :name, :type, :text)
    private_constant :UUID, :ESCAPES, :Leaf

    # The lines, each with its line feed.
    attr_reader :lines

    # +volatile+ are the names whose values a server makes anew each time.
    def initialize(volatile)
      @volatile = volatile
      @uuids = {}
      @lines = []
    end

    # Adds the leaves of a reply, given by its number, or of an "error" of a step.
    def add(step, reply, value)
      leaves = []
      collect(value, '', '', leaves)
      leaves.sort_by { |leaf| leaf.pointer.b }.each do |leaf|
        text = normalized(leaf).gsub(/[\\\t\n\r]/, ESCAPES)
        @lines << "#{step}\t#{reply}\t#{leaf.pointer}\t#{leaf.type}\t#{text}\n"
      end
    end

    # All lines.
    def text
      @lines.join
    end

    # The SHA-256 of the lines in UTF-8, in hexadecimal.
    def digest
      Digest::SHA256.hexdigest(text)
    end

    private

    def collect(value, pointer, name, leaves)
      case value
      when Hash
        leaves << Leaf.new(pointer, name, 'o', '') if value.empty?
        value.each { |key, member| collect(member, Pointer.step(pointer, key), key, leaves) }
      when Array
        value.each_with_index { |member, index| collect(member, Pointer.step(pointer, index), name, leaves) }
      when nil then nil
      else leaves << Leaf.new(pointer, name, type_of(value), value.to_s)
      end
    end

    def type_of(value)
      case value
      when String then 's'
      when Integer then 'n'
      when true, false then 'b'
      else raise TypeError, "no field of the contract is a #{value.class}"
      end
    end

    def normalized(leaf)
      return "<#{leaf.name}>" if leaf.type != 'o' && @volatile.include?(leaf.name)

      leaf.text.gsub(UUID) { |found| @uuids[found] ||= "<uuid-#{@uuids.size + 1}>" }
    end
  end
end
