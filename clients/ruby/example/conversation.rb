# frozen_string_literal: true

# A conversation that two programs share: append, watch, compile, meet another writer,
# watch on.
#
#     ruby -Ilib example/conversation.rb HISTORY COMPILER
#
# Both are addresses, HOST:PORT or unix:PATH.

require 'antiphon'

# One branch, and what this program does with it.
class Conversation
  CALL_SECONDS = 30

  # Writes what happens to +output+.
  def initialize(history, compiler, output = $stdout)
    # gRPC's calls have no deadline by themselves.
    @history = Antiphon::History::V1::HistoryService::Stub.new(
      history, :this_channel_is_insecure, timeout: CALL_SECONDS
    )
    @compiler = Antiphon::Compiler::V1::CompilerService::Stub.new(
      compiler, :this_channel_is_insecure, timeout: CALL_SECONDS
    )
    @output = output
  end

  # Tells the conversation. Raises GRPC::BadStatus or Antiphon::Error where a call fails.
  def tell
    stale_revision = create
    revision = append([system('You are a gardener.'), instruction('When do I plant tulips?'),
                       response('In autumn, before the first frost.')])
    seen = watch('watch', revision)
    question = compile(instruction('And how deep?'))
    revision = append_after_conflict(question, stale_revision)
    # A watch that was cut goes on after the last revision seen.
    watch("watch, resumed after revision #{seen.revision}", revision, after: seen)
  end

  private

  # Creates the branch and returns its revision.
  def create
    request = Antiphon::History::V1::CreateBranchRequest.new(request_id: Antiphon::RequestId.create)
    branch = @history.create_branch(request).branch
    @branch_id = branch.branch_id
    @output.puts "created a branch at revision #{branch.revision}"
    branch.revision
  end

  # Appends messages, with +expected_revision+ only if the branch is at that revision, and
  # returns the new one.
  def append(messages, expected_revision: nil)
    written = @history.add_messages(
      Antiphon::History::V1::AddMessagesRequest.new(
        branch_id: @branch_id, messages: messages, expected_revision: expected_revision,
        request_id: Antiphon::RequestId.create
      )
    )
    @output.puts "appended #{count(messages.size)}: revision #{written.revision}"
    written.revision
  end

  # Appends with a revision that is out of date, reads from the refusal what happened, and
  # appends with the right one.
  def append_after_conflict(message, stale_revision)
    append([message], expected_revision: stale_revision)
  rescue GRPC::BadStatus => e
    error = Antiphon::Error.of(e)
    conflict = error.revision_conflict or raise error
    @output.puts "refused: #{error.reason}, " \
                 "expected #{conflict.expected_revision}, actual #{conflict.actual_revision}"
    # Read again, decide again: here, that the message still fits.
    request = Antiphon::History::V1::GetBranchRequest.new(branch_id: @branch_id)
    append([message], expected_revision: @history.get_branch(request).branch.revision)
  end

  # Watches the branch after a position up to a revision's change, tells it, cuts the watch
  # there, and returns its position.
  def watch(name, revision, after: Antiphon::BranchWatch::BEGINNING)
    changes = Antiphon::BranchWatch.new(@history, @branch_id, after: after)
    change = changes.find { |each| each.revision >= revision }
    added = change.operations.count { |each| each.operation == :added }
    @output.puts "#{name}: revision #{change.revision} added #{count(added)}"
    changes.position
  end

  # Compiles the branch with an instruction, for a provider, and returns the instruction as
  # it may be appended.
  def compile(instruction)
    compiled = @compiler.compile(
      Antiphon::Compiler::V1::CompileRequest.new(
        branch: Antiphon::Compiler::V1::BranchRef.new(branch_id: @branch_id),
        profile: :PROFILE_NATIVE, target: 'openai.chat', instruction: instruction
      )
    )
    @output.puts "compiled #{count(compiled.messages.size)}, digest #{compiled.messages_digest}"
    unless Antiphon::MessagesDigest.of(compiled) == compiled.messages_digest
      raise 'the messages are not those that the digest was made of'
    end

    compiled.instruction
  end

  def system(text)
    Antiphon::Message::V1::Message.new(system: { system_message: text })
  end

  def instruction(text)
    Antiphon::Message::V1::Message.new(instruction: { instruction: text })
  end

  def response(text)
    Antiphon::Message::V1::Message.new(assistant_response: { assistant_response: text })
  end

  def count(messages)
    messages == 1 ? '1 message' : "#{messages} messages"
  end
end

if $PROGRAM_NAME == __FILE__
  abort 'usage: conversation.rb HISTORY COMPILER (each HOST:PORT or unix:PATH)' unless ARGV.size == 2
  Conversation.new(*ARGV).tell
end
