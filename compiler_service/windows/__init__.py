"""Planning what of a history to select: windows that fit a budget, and compactions.

Selecting is the caller's: a plan changes nothing and nothing is compiled by it.
Both plans cut between exchanges only. An exchange is a user's turn, or several
that follow each other, with one round of the model that answers it: what the
model says in one go, its calls and all their results. Where a model works in
many rounds on one turn, each round is an exchange with that turn, so that a cut
between rounds leaves the task in front of what is kept.
"""

from compiler_service.windows.checks import check_plan_compaction, check_plan_window
from compiler_service.windows.compaction import plan_compaction
from compiler_service.windows.replies import sized_reply
from compiler_service.windows.window import plan_window

__all__ = ["check_plan_compaction", "check_plan_window", "plan_compaction", "plan_window", "sized_reply"]
