# frozen_string_literal: true

require 'support'

class ErrorTest < Minitest::Test
  INFO = Google::Rpc::ErrorInfo.new(reason: 'REVISION_CONFLICT', domain: 'antiphon.history',
                                    metadata: { 'actual' => '9223372036854775807' })

  def error(code, *details)
    Antiphon::Error.of(Support.refusal(code, 'no', *details))
  end

  def test_has_the_revisions_of_a_conflict
    conflict = Antiphon::History::V1::RevisionConflict.new(
      branch_id: 'b', expected_revision: 1, actual_revision: (2**63) - 1
    )
    error = error(GRPC::Core::StatusCodes::ABORTED, INFO, conflict)

    assert_equal [GRPC::Core::StatusCodes::ABORTED, 'ABORTED'], [error.code, error.code_name]
    assert_equal %w[REVISION_CONFLICT antiphon.history no], [error.reason, error.domain, error.message]
    assert_equal({ 'actual' => '9223372036854775807' }, error.metadata)
    assert_equal 9_223_372_036_854_775_807, error.revision_conflict.actual_revision
    assert_equal [INFO, conflict], error.details
    assert_empty error.field_violations
    assert_nil error.retry_after
  end

  def test_has_the_fields_of_a_bad_request
    violations = [{ field: 'messages[0].id', description: 'no UUID' }, { field: 'branch_id', description: '' }]
    error = error(GRPC::Core::StatusCodes::INVALID_ARGUMENT,
                  Google::Rpc::BadRequest.new(field_violations: violations))

    assert_equal violations, error.field_violations.map(&:to_h)
    assert_nil error.revision_conflict
  end

  def test_has_the_time_to_wait
    delay = Google::Protobuf::Duration.new(seconds: 2, nanos: 500_000_000)
    error = error(GRPC::Core::StatusCodes::UNAVAILABLE, Google::Rpc::RetryInfo.new(retry_delay: delay))

    assert_equal 2.5r, error.retry_after
  end

  def test_a_failure_of_the_transport_has_a_code_and_no_reason
    error = Antiphon::Error.of(GRPC::Unavailable.new('no connection'))

    assert_equal ['UNAVAILABLE', 'no connection'], [error.code_name, error.message]
    assert_equal [nil, nil, {}, []], [error.reason, error.domain, error.metadata, error.details]
  end

  def test_a_trailer_that_is_no_status_is_passed_over
    error = Antiphon::Error.of(GRPC::Aborted.new('no', { 'grpc-status-details-bin' => "\x08".b }))

    assert_equal ['ABORTED', 'no', nil], [error.code_name, error.message, error.reason]
  end

  def test_details_that_are_not_known_or_broken_stay_as_they_came
    unknown = Google::Protobuf::Any.new(type_url: 'type.googleapis.com/antiphon.Later', value: 'x')
    broken = Google::Protobuf::Any.new(type_url: 'type.googleapis.com/google.rpc.BadRequest', value: "\x08".b)
    error = error(GRPC::Core::StatusCodes::ABORTED, unknown, broken, INFO)

    assert_equal [unknown, broken, INFO], error.details
    assert_equal 'REVISION_CONFLICT', error.reason
    assert_empty error.field_violations
  end
end
