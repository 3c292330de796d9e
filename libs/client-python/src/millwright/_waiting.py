"""What waiting for a run decides: how long between two looks, and what ends it. Without any looking."""

from __future__ import annotations

from typing import Any, Collection, Tuple, Union, get_args

from ._errors import MillwrightError, WaitEndedError, WaitTimeoutError
from ._options import RUN_ENDS
from .types._texts import RunStateParam

PAUSE_FIRST_SECONDS = 0.5
PAUSE_GROWTH = 1.5
PAUSE_MAX_SECONDS = 5.0
#: What the last look is given at least, so that a wait that is over has seen how the run stands.
LOOK_SECONDS_MIN = 1.0

_STATES: Tuple[str, ...] = get_args(RunStateParam)


def read_states(until: Union[str, Collection[str], None]) -> Tuple[str, ...]:
    """The states that are waited for. Raises MillwrightError for what is none."""
    if until is None:
        return RUN_ENDS
    states = (until,) if isinstance(until, str) or not isinstance(until, Collection) else tuple(until)
    if states and all(state in _STATES for state in states):
        return states
    raise MillwrightError(f"until must be one or more of {', '.join(_STATES)}")


def check_not_ended(run: Any, states: Collection[str]) -> None:
    """Raises WaitEndedError for a run that will not become what is waited for."""
    if run.state in RUN_ENDS:
        raise WaitEndedError(f"the run has ended as {run.state}, and will not become {' or '.join(states)}", run=run)


def too_long(run: Any, is_in_sight: bool) -> WaitTimeoutError:
    """The error for a wait whose time is over. `run`: as it was last; None: never seen. `is_in_sight`: by the last look."""
    if run is None:
        return WaitTimeoutError("the run was not seen in time", run=run)
    if not is_in_sight:
        return WaitTimeoutError("the run was not seen any more in time", run=run)
    return WaitTimeoutError(f"the run is {run.state}; it was not waited for any longer", run=run)
