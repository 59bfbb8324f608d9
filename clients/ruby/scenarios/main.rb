# frozen_string_literal: true

# Runs the shared scenarios on a running pair; see Scenarios::Options::USAGE.

$LOAD_PATH.unshift(__dir__, File.expand_path('../lib', __dir__))

require 'scenarios'

exit Scenarios::Main.run(ARGV)
