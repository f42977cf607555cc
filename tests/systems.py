"""What differs between systems, for tests that need it."""

from __future__ import annotations

import signal

#: Ends a process at once; on Windows every signal does.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
