# frozen_string_literal: true

require 'digest'

module Scenarios
  # The digests that answers carry, computed from the answers alone.
  module Digests
    module_function

    # Checks those of a call's replies, read to their end; +request+ is what the step says.
    # Returns how many they are. Raises Mismatch where one is not equal.
    def check(rpc, request, replies)
      case rpc.name
      when 'Compile' then compiled(replies.first)
      when 'StreamCompile' then compiled(CompiledStream.assemble(replies))
      when 'ReadSnapshot' then request&.key?('sinceRevision') ? 0 : snapshot(replies)
      else 0
      end
    end

    def compiled(response)
      equal('/messagesDigest', Antiphon::MessagesDigest.of(response), response.messages_digest)
      return 1 unless response.has_provider_request_json?

      request = Digest::SHA256.hexdigest(response.provider_request_json)
      equal('/requestDigest', request, response.request_digest)
      2
    end

    def snapshot(frames)
      Antiphon::Snapshot.assemble(frames)
      1
    rescue Antiphon::Error => e
      raise Mismatch.new('', 'a whole snapshot', e.message)
    end

    def equal(pointer, computed, told)
      raise Mismatch.new(pointer, computed, told) unless computed == told
    end

    private_class_method :compiled, :snapshot, :equal
  end
end
