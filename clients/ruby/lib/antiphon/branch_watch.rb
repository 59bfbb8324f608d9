# frozen_string_literal: true

require 'antiphon/error'

module Antiphon
  # Where a watch stands: keep it beside what was made of the changes so far.
  #
  # +revision+ is the last revision seen, 0 for none. +incarnation+ is the one it
  # belongs to, without which a branch restored from a backup would pass for the former
  # one; empty: the branch's own.
  WatchPosition = Struct.new(:revision, :incarnation)

  # A branch's changes in order, each once, as they are committed.
  #
  # A watch that was connected and is cut opens its stream again after the last change
  # seen, for as long as it takes, with 0.05 to 2 seconds between two tries. To go on in
  # another process, keep +position+ and begin there.
  #
  # One thread reads; any thread may close.
  class BranchWatch
    include Enumerable

    # Before everything: every change that the branch retains is still to come.
    BEGINNING = WatchPosition.new(0, '').freeze

    FIRST_DELAY = 0.1
    LONGEST_DELAY = 2.0
    DOUBLINGS = 5
    NO_DEADLINE = GRPC::Core::TimeConsts::INFINITE_FUTURE
    private_constant :FIRST_DELAY, :LONGEST_DELAY, :DOUBLINGS, :NO_DEADLINE

    # Where the watch stands: after the last change that was yielded or skipped.
    attr_reader :position

    # Prepares a watch of a branch after a position; +each+ opens the stream.
    # +history+ is a History::V1::HistoryService::Stub, whose +timeout+ is not for watches.
    def initialize(history, branch_id, after: BEGINNING)
      @history = history
      @branch_id = branch_id
      @position = after
      @connected = false
      @failures = 0
      @mutex = Mutex.new
      @closing = ConditionVariable.new
      @closed = false
      @deleted = false
    end

    # Yields each History::V1::BranchChange and waits for the next. It returns after the
    # change that deleted the branch and after +close+; to leave the block, by +break+ or
    # as Enumerable's +find+ does, cuts the stream, and another +each+ goes on after the
    # last change.
    #
    # Raises Error where the call failed for good, such as with REVISION_EXPIRED, or
    # where a change is of a kind, or holds a step, that these stubs do not know and must
    # not skip (CHANGE_UNKNOWN).
    def each
      return enum_for unless block_given?

      begin
        while (change = next_change)
          yield change
        end
      ensure
        @operation&.cancel
        @frames = nil
      end
    end

    # Ends the watch from this side.
    def close
      operation = @mutex.synchronize do
        @closed = true
        @closing.broadcast
        @operation
      end
      operation&.cancel
    end

    # Waits so many seconds, less where the watch is closed before.
    def pause(seconds)
      @mutex.synchronize { @closing.wait(@mutex, seconds) unless @closed }
    end

    private

    # Waits for the next change that is new and known; nil: there will be none.
    def next_change
      until @closed || @deleted
        change = receive&.change
        # A resumed stream may repeat what came before the cut.
        next if change.nil? || change.revision <= position.revision

        shown = known?(change)
        @position = WatchPosition.new(change.revision, change.incarnation)
        @deleted = change.kind == :BRANCH_CHANGE_KIND_DELETED
        return change if shown
      end
    end

    # Waits for the next frame, of a new stream where there is none; nil after a cut.
    def receive
      @frames ||= open_stream
      frame = @frames.next
      @connected = true
      @failures = 0
      frame
    rescue StopIteration
      # A watch has no end of its own: one that ends without an error was cut too.
      recover(GRPC::Unavailable.new('the watch ended'))
    rescue GRPC::BadStatus => e
      recover(e)
    end

    def open_stream
      request = History::V1::WatchBranchRequest.new(
        branch_id: @branch_id, after_revision: position.revision, incarnation: position.incarnation
      )
      operation = @history.watch_branch(request, deadline: NO_DEADLINE, return_op: true)
      closed = @mutex.synchronize do
        @operation = operation
        @closed
      end
      # A close that came before had nothing to cancel yet.
      operation.cancel if closed
      operation.execute
    end

    def known?(change)
      return true if change.kind.is_a?(Symbol) && change.operations.all?(&:operation)
      return false if change.ignorable

      raise Error.found(GRPC::Core::StatusCodes::UNIMPLEMENTED, 'CHANGE_UNKNOWN',
                        "revision #{change.revision} is a change that this client does not know")
    end

    # Waits until it is time to connect again; raises where that is pointless.
    def recover(cause)
      @frames = nil
      return if @closed
      raise Error.of(cause) unless cause.code == GRPC::Core::StatusCodes::UNAVAILABLE && @connected

      longest = [FIRST_DELAY * (2**[@failures, DOUBLINGS].min), LONGEST_DELAY].min
      @failures += 1
      # Half of it by chance, so that watchers cut together do not come back together.
      pause(rand((longest / 2)..longest))
      nil
    end
  end
end
