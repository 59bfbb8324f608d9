# frozen_string_literal: true

require 'antiphon'

# The runner of the shared scenarios, whose format, command line and output
# tests/contract/scenarios/README.md fixes.
module Scenarios
end

require 'scenarios/faults'
require 'scenarios/json_text'
require 'scenarios/pointer'
require 'scenarios/variables'
require 'scenarios/matching'
require 'scenarios/transcript'
require 'scenarios/scenario'
require 'scenarios/contract'
require 'scenarios/call_error'
require 'scenarios/pair'
require 'scenarios/compiled_stream'
require 'scenarios/digests'
require 'scenarios/caller'
require 'scenarios/run'
require 'scenarios/options'
require 'scenarios/main'
