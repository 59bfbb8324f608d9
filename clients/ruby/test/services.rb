# frozen_string_literal: true

require 'support'

# Services of fixed answers.
module Services
  INFO = Google::Rpc::ErrorInfo.new(reason: 'STORE_BUSY', domain: 'antiphon.history', metadata: { 'k' => 'v' })
  FIELDS = Google::Rpc::BadRequest.new(field_violations: [{ field: 'a.b', description: 'no' }])
  REFUSAL = Support.refusal(GRPC::Core::StatusCodes::UNAVAILABLE, 'busy', INFO, FIELDS, Google::Rpc::RetryInfo.new)

  # The history service.
  class History < Antiphon::History::V1::HistoryService::Service
    # Takes an item for each watch that has ended.
    attr_reader :ended

    def initialize
      super
      @ended = Queue.new
    end

    def clear_messages(request, call)
      raise REFUSAL if request.has_expected_revision?

      replayed = call.metadata['x-tenant'] == 't1'
      Antiphon::History::V1::ClearMessagesResponse.new(revision: 2**60, replayed: replayed)
    end

    def export_branch(_request, _call)
      Enumerator.new do |frames|
        2.times { frames << Antiphon::History::V1::ExportBranchResponse.new }
        raise REFUSAL
      end
    end

    def import_branch(call)
      keys = call.each_remote_read.map { |request| request.head.external_key }
      Antiphon::History::V1::ImportBranchResponse.new(branch: { external_key: keys.join(',') })
    end

    def read_snapshot(_request, _call)
      [{ header: {} }, { footer: { sha256: 'no' } }].map do |frame|
        Antiphon::History::V1::ReadSnapshotResponse.new(**frame)
      end
    end

    # Sends heartbeats until its caller has left.
    def watch_branch(_request, _call)
      Enumerator.new do |frames|
        (1..).each do |revision|
          frames << Antiphon::History::V1::WatchBranchResponse.new(heartbeat: { revision: revision })
        end
      ensure
        @ended << true
      end
    end
  end

  # The compiler service.
  class Compiler < Antiphon::Compiler::V1::CompilerService::Service
    NOTHING = '88db66c0c51449edb00b712884ac6ff55d539a5f606031ea6b0562a1627e3be4'

    def compile(request, _call)
      response = Antiphon::Compiler::V1::CompileResponse.new(messages_digest: NOTHING)
      response.messages << Antiphon::Compiler::V1::CompiledMessage.new(text: 'x') if request.has_structure?
      if request.has_target?
        response.provider_request_json = '{}'
        response.request_digest = request.target
      end
      response
    end
  end
end
