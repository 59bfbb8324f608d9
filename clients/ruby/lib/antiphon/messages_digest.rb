# frozen_string_literal: true

require 'digest'

module Antiphon
  # The digest of what was compiled: proof of what a model saw.
  #
  # The canonical form it is made of stands at +CompileResponse.messages_digest+ in the
  # protos.
  class MessagesDigest
    DOMAIN = "antiphon.compiled.v1\0"
    private_constant :DOMAIN

    # Returns the digest of a CompileResponse's messages and system text, in lower-case
    # hexadecimal: compare it with +messages_digest+ to know that nothing changed on the
    # way. Cost: in step with the messages' bytes.
    #
    # Raises ArgumentError for a message or a part of a kind that these stubs do not know.
    def self.of(response)
      new(response).hexdigest
    end

    def initialize(response)
      @hash = Digest::SHA256.new << DOMAIN
      text_message(Message::V1::Role::ROLE_SYSTEM, response.system_text) if response.has_system_text?
      response.messages.each { |each| message(each) }
    end

    # The digest in lower-case hexadecimal.
    def hexdigest
      @hash.hexdigest
    end

    private

    def message(message)
      case message.content
      when :text then text_message(message.role_const, message.text)
      when :parts
        octets(message.role_const, 2)
        count(message.parts.parts.size)
        message.parts.parts.each { |each| part(each, each.part) }
      else raise ArgumentError, 'a compiled message of an unknown kind'
      end
    end

    def text_message(role, text)
      octets(role, 1)
      string(text)
    end

    # A part of a message, or a block of a result in the form of a part.
    def part(holder, kind)
      case kind
      when :text then tagged(1, holder.text.text)
      when :image_url then image_url(holder.image_url)
      when :thinking then thinking(holder.thinking)
      when :tool_call then call(holder.tool_call)
      when :tool_result then result(holder.tool_result)
      when :image then image(holder.image)
      when :opaque then opaque(holder.opaque)
      when :json then tagged(8, holder.json.value_json)
      else raise ArgumentError, 'a compiled part of an unknown kind'
      end
    end

    def image_url(image)
      tagged(2, image.url)
      octets(image.detail_const)
    end

    def thinking(thinking)
      tagged(3, thinking.thinking)
      optional(thinking.has_signature?, thinking.signature)
      optional(thinking.has_provider?, thinking.provider)
      optional(thinking.has_model?, thinking.model)
    end

    def call(call)
      tagged(4, call.id, call.name, call.arguments_json)
      optional(call.has_arguments_text?, call.arguments_text)
      optional(call.has_thought_signature?, call.thought_signature)
    end

    def result(result)
      tagged(5, result.call_id, result.name)
      octets(result.is_error ? 1 : 0, result.is_synthesized ? 1 : 0)
      count(result.content.size)
      result.content.each do |block|
        raise ArgumentError, 'a call has no place in a result' if block.block == :tool_call

        part(block, block.block)
      end
    end

    def image(image)
      tagged(6, image.mime_type)
      if image.source == :data
        tagged(1, image.data)
      else
        tagged(2, image.url)
      end
      octets(image.detail_const)
    end

    def opaque(opaque)
      tagged(7, opaque.provider, opaque.model, opaque.kind, opaque.data_json)
    end

    def tagged(kind, *strings)
      octets(kind)
      strings.each { |each| string(each) }
    end

    def optional(present, text)
      present ? tagged(1, text) : octets(0)
    end

    def octets(*values)
      @hash << values.pack('C*')
    end

    def count(number)
      @hash << [number].pack('N')
    end

    def string(text)
      @hash << [text.bytesize].pack('Q>') << text
    end
  end
end
