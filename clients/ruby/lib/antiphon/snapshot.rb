# frozen_string_literal: true

require 'antiphon/error'
require 'digest'

module Antiphon
  # A selection of a branch at one revision, verified.
  class Snapshot
    # The SnapshotHeader: the branch, its incarnation, the revision and the system record.
    attr_reader :header

    # The selection's order.
    attr_reader :message_ids

    # The messages in that order, each encoded, byte for byte as the service keeps it.
    attr_reader :stored_messages

    # Puts a snapshot together from the frames of one ReadSnapshot stream and verifies
    # it: the counts of header, order and footer, and the footer's SHA-256 over the
    # stored bytes as they came.
    #
    # It takes whole snapshots only: leave +since_revision+ out of the request. It
    # takes joined frames: set +takes_joined+. Cost: the messages' bytes are hashed
    # and kept, not decoded.
    #
    # Raises Error SNAPSHOT_TRUNCATED where the frames are not a whole snapshot.
    def self.assemble(frames)
      assembler = SnapshotAssembler.new
      frames.each { |frame| assembler << frame }
      assembler.result
    end

    def self.truncated(message)
      Error.found(GRPC::Core::StatusCodes::DATA_LOSS, 'SNAPSHOT_TRUNCATED', message)
    end

    def initialize(header, message_ids, stored_messages)
      @header = header
      @message_ids = message_ids.freeze
      @stored_messages = stored_messages.freeze
    end

    # Decodes the messages. Cost: in step with their bytes, at every call.
    #
    # Raises Error SNAPSHOT_TRUNCATED where one is not the message that the order names.
    def messages
      stored_messages.zip(message_ids).map do |stored, id|
        message = Message::V1::Message.decode(stored)
        raise Snapshot.truncated("message #{id} of the snapshot is another one") if message.id != id

        message
      rescue Google::Protobuf::ParseError
        raise Snapshot.truncated("message #{id} of the snapshot cannot be decoded")
      end
    end
  end

  # Takes the frames of one ReadSnapshot stream, in order; see Snapshot.assemble.
  class SnapshotAssembler
    def initialize
      @message_ids = []
      @messages = []
      @hash = Digest::SHA256.new
    end

    # Takes the next frame, or those that it joins. Raises Error SNAPSHOT_TRUNCATED
    # where one has no place here.
    def <<(response)
      if response.frame == :joined
        apart(response.joined).each { |frame| take(frame) }
      else
        take(response)
      end
      self
    end

    # Returns the Snapshot; the stream has ended. Raises Error SNAPSHOT_TRUNCATED where
    # a part is missing, a count differs, or the messages are not the bytes that the
    # footer's hash was made of.
    def result
      refuse('the snapshot ended before its footer') unless @footer
      announced = [@header.message_count, @message_ids.size, @footer.message_count]
      unless announced.all?(@messages.size)
        refuse("#{@messages.size} messages arrived; header, order and footer announce #{announced.inspect}")
      end
      refuse('the messages do not match the hash in the footer') if @hash.digest != @footer.sha256
      Snapshot.new(@header, @message_ids, @messages)
    end

    private

    # The frames that joined ones stand for, in their order.
    def apart(joined)
      parts = { header: [joined.header].compact, order: joined.orders, delta: joined.deltas,
                batch: joined.batches, footer: [joined.footer].compact }
      parts.flat_map { |kind, all| all.map { |part| History::V1::ReadSnapshotResponse.new(kind => part) } }
    end

    def take(response)
      refuse('the snapshot goes on after its footer') if @footer
      refuse('a snapshot begins with its one header') if (response.frame == :header) == !@header.nil?
      case response.frame
      when :header then begin_with(response.header)
      when :order then order(response.order)
      when :batch then batch(response.batch)
      when :footer then @footer = response.footer
      else refuse('the snapshot has a frame that has no place in a whole one')
      end
    end

    def begin_with(header)
      refuse('the snapshot is a delta, which was not asked for') if header.is_delta
      @header = header
    end

    def order(order)
      refuse('the order goes on after the messages began') unless @messages.empty?
      @message_ids.concat(order.message_ids.to_a)
    end

    def batch(batch)
      batch.messages.each do |stored|
        @hash << stored
        @messages << stored
      end
    end

    def refuse(message)
      raise Snapshot.truncated(message)
    end
  end
end
