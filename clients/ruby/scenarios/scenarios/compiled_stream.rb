# frozen_string_literal: true

module Scenarios
  # Puts a streamed compilation together: what its digests are over, and the digests.
  class CompiledStream
    # A message whose chunks are arriving: its start, the pieces of its text, and those of
    # its parts.
    Open = Struct.new(:start, :text, :parts)
    private_constant :Open

    # Returns the CompileResponse of frames read to their end. Raises Mismatch where one has
    # no place or one is missing.
    def self.assemble(frames)
      stream = new
      frames.each { |frame| stream.add(frame) }
      stream.result
    end

    def initialize
      @compiled = Antiphon::Compiler::V1::CompileResponse.new
      @request = +''
    end

    # Takes the next frame.
    def add(frame)
      require_that(@last.nil?, 'no frame after the last Result', frame.frame.inspect)
      case frame.frame
      when :message_start then start(frame.message_start)
      when :text_chunk then opened.text << frame.text_chunk.text
      when :part_chunk then part(frame.part_chunk)
      when :message_end then finish(frame.message_end)
      when :request_chunk then @request << frame.request_chunk.text
      when :result then take(frame.result)
      else require_that(false, 'a frame of a known kind', 'another')
      end
    end

    # Returns the compilation; the stream has ended.
    def result
      require_that(@last && @open.nil?, 'a last Result', 'none')
      count = @compiled.messages.size
      require_that(@last.message_count == count, "#{@last.message_count} messages", count)
      @compiled.messages_digest = @last.messages_digest
      if @last.has_request_digest?
        @compiled.request_digest = @last.request_digest
        @compiled.provider_request_json = @request
      end
      @compiled
    end

    private

    def start(start)
      in_turn = @open.nil? && start.index == @compiled.messages.size
      require_that(in_turn, 'a message in its turn', "message #{start.index}")
      @open = Open.new(start, +'', [])
    end

    def opened
      require_that(!@open.nil?, 'a frame within a message', 'one outside')
      @open
    end

    def part(chunk)
      parts = opened.parts
      parts << [] if chunk.part_index == parts.size
      require_that(chunk.part_index == parts.size - 1, 'a part in its turn', "part #{chunk.part_index}")
      parts.last << chunk
    end

    def finish(finish)
      message = opened
      require_that(finish.index == message.start.index, 'the end of its message', 'that of another')
      content = message.parts.empty? ? { text: message.text } : { parts: { parts: joined_parts(message) } }
      @compiled.messages << Antiphon::Compiler::V1::CompiledMessage.new(role: message.start.role, **content)
      @open = nil
    end

    def joined_parts(message)
      message.parts.map { |chunks| joined(chunks) }
    end

    def joined(chunks)
      first = chunks.first
      kind = first.piece
      require_that(chunks.all? { |chunk| chunk.piece == kind }, 'pieces of one kind', 'of more')
      case kind
      when :whole
        require_that(chunks.size == 1, 'a whole part once', "#{chunks.size} times")
        first.whole
      when :image_url
        url = chunks.map { |chunk| chunk.image_url.url }.join
        Antiphon::Compiler::V1::Part.new(image_url: { url: url, detail: first.image_url.detail })
      else Antiphon::Compiler::V1::Part.new(text: { text: chunks.map(&:text).join })
      end
    end

    def take(result)
      @compiled.system_text = result.system_text if result.has_system_text?
      @last = result if result.last
    end

    def require_that(holds, expected, actual)
      raise Mismatch.new('', expected, actual) unless holds
    end
  end
end
