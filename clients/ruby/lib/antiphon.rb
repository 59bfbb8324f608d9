# frozen_string_literal: true

# The generated stubs require each other by their path below lib/gen.
$LOAD_PATH.unshift(File.expand_path('gen', __dir__))

require 'antiphon/compiler/v1/compiler_service_services_pb'
require 'antiphon/compiler/v1/errors_pb'
require 'antiphon/history/v1/errors_pb'
require 'antiphon/history/v1/exchange_service_services_pb'
require 'antiphon/history/v1/history_service_services_pb'

# Clients of Antiphon's services.
#
# The stubs are in Antiphon::Message::V1, Antiphon::History::V1 and
# Antiphon::Compiler::V1; what their calls promise is written in the protos. The
# library beside them is what stubs leave to their user:
#
# - Error: what a failed call says, from its gRPC status.
# - BranchWatch: a branch's changes, resumed by itself after a cut.
# - Snapshot: a snapshot from its frames, verified.
# - MessagesDigest: the digest of what was compiled.
# - RequestId: ids that make a write safe to send again.
module Antiphon
end

require 'antiphon/branch_watch'
require 'antiphon/error'
require 'antiphon/messages_digest'
require 'antiphon/request_id'
require 'antiphon/snapshot'
