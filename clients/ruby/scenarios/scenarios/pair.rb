# frozen_string_literal: true

module Scenarios
  # One call as a step says it, its values made: +requests+ are their bytes.
  Call = Struct.new(:rpc, :requests, :metadata, :timeout_ms)

  # The replies of a call, one for a unary method, read as they are wanted.
  class Replies
    # The Contract::Rpc called.
    attr_reader :rpc

    # The CallError, as far as is known.
    attr_reader :error

    # +frames+ is an Enumerator of bytes, +operation+ what cancels it.
    def initialize(rpc, frames, operation = nil)
      @rpc = rpc
      @frames = frames
      @operation = operation
      @ended = false
    end

    # Whether the end was read.
    def ended?
      @ended
    end

    # Returns so many more replies, fewer where the call ends before; without +count+, all.
    def read(count = nil)
      replies = []
      replies << rpc.decode(@frames.next) until ended? || replies.size == count
      replies
    rescue StopIteration
      @ended = true
      replies
    rescue GRPC::BadStatus => e
      @ended = true
      @error = CallError.new(e)
      replies
    end

    # Ends the call from this side.
    def cancel
      @operation&.cancel
      @ended = true
    end
  end

  # A running pair. Every message goes and comes as bytes.
  class Pair
    COMPILER = 'antiphon.compiler.'
    AS_IT_IS = :itself.to_proc
    private_constant :COMPILER, :AS_IT_IS

    # Both addresses are HOST:PORT or unix:PATH.
    def initialize(history, compiler)
      @history = GRPC::ClientStub.new(history, :this_channel_is_insecure)
      @compiler = GRPC::ClientStub.new(compiler, :this_channel_is_insecure)
    end

    # Returns the Replies of a call, to be read. A server stream was sent then; other calls
    # are sent when they are read.
    def start(call)
      stub = call.rpc.service.start_with?(COMPILER) ? @compiler : @history
      if call.rpc.server_streaming
        stream(stub, call)
      else
        Replies.new(call.rpc, Enumerator.new { |replies| replies << answer(stub, call) })
      end
    end

    private

    def stream(stub, call)
      operation = stub.server_streamer(call.rpc.path, call.requests.first, AS_IT_IS, AS_IT_IS,
                                       return_op: true, **options(call))
      Replies.new(call.rpc, operation.execute, operation)
    rescue GRPC::BadStatus => e
      Replies.new(call.rpc, Enumerator.new { raise e })
    end

    def answer(stub, call)
      if call.rpc.client_streaming
        stub.client_streamer(call.rpc.path, call.requests, AS_IT_IS, AS_IT_IS, **options(call))
      else
        stub.request_response(call.rpc.path, call.requests.first, AS_IT_IS, AS_IT_IS, **options(call))
      end
    end

    def options(call)
      # gRPC adds its own names to the metadata it is given.
      { deadline: Time.now + (call.timeout_ms / 1000r), metadata: call.metadata.dup }
    end
  end
end
