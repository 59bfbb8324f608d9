# frozen_string_literal: true

require 'json'

module Scenarios
  # JSON as the scenarios need it: of any depth, its texts as they are, integers exact.
  module JsonText
    SHOWN = 200
    private_constant :SHOWN

    # Reads JSON text. Raises JSON::ParserError where it is none.
    def self.parse(text)
      JSON.parse(text, max_nesting: false)
    end

    # Writes a value compactly; escaped are the quotation mark, the backslash and control
    # characters alone, as +$json+ has them.
    def self.write(value)
      JSON.generate(value, max_nesting: 0)
    end

    # Writes a value for a message, cut where it is long; +nil+ is what is not there.
    def self.show(value)
      return 'nothing' if value.nil?

      text = write(value)
      text.size <= SHOWN ? text : "#{text[0, SHOWN]}… (#{text.size} characters)"
    end
  end
end
