# frozen_string_literal: true

require 'securerandom'

module Antiphon
  # Ids for +request_id+, in the canonical lower-case text that the services take.
  #
  # A write under one id is done once, however often it is sent: keep the id until
  # the write is answered, and send the same request with it again after UNAVAILABLE
  # or DEADLINE_EXCEEDED.
  module RequestId
    FRACTIONS = 1 << 12
    RANDOM_BITS = 1 << 62
    private_constant :FRACTIONS, :RANDOM_BITS

    # Returns a fresh id: a UUID of version 7, the 48 bits of +time+ in milliseconds,
    # 12 of their fraction and 62 random ones. Such ids grow with time, so that the
    # store writes them to one end of its index; they suit messages too.
    def self.create(time = Time.now)
      nanoseconds = (time.to_i * 1_000_000_000) + time.nsec
      milliseconds, rest = nanoseconds.divmod(1_000_000)
      high = (milliseconds << 16) | (7 << 12) | (rest * FRACTIONS / 1_000_000)
      low = (0b10 << 62) | SecureRandom.random_number(RANDOM_BITS)
      digits = ((high << 64) | low).to_s(16).rjust(32, '0')
      digits.unpack('a8a4a4a4a12').join('-')
    end
  end
end
