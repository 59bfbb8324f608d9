"""The providers' own public types as judges of what is projected for them."""

from tests.support.provider_types.requests import CHECKS, check_request

__all__ = ["CHECKS", "check_request"]
