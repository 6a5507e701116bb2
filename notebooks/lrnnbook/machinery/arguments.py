"""The parser of every verb that takes numbers: one place that refuses those that no option can mean."""

import argparse
from typing import Any

MAX_NUMBER = 10**6  # seconds, MiB, rounds: more is a slip, and overflows what the system counts in


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` whose numbers, but the default, are above 0 and at most 10^6: counts, seconds, sizes."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, for this parser and each of its verbs; ends with status 2 where a number is none."""
        return self._refuse(*super().parse_known_args(args, namespace))

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The same with names after options; since Python 3.12.8 it does not come by :meth:`parse_known_args`."""
        return self._refuse(*super().parse_known_intermixed_args(args, namespace))

    def _refuse(self, options: argparse.Namespace, rest: list[str]) -> tuple[argparse.Namespace, list[str]]:
        for action in self._actions:
            value = getattr(options, action.dest, None)
            if action.type in (int, float) and value not in (None, action.const, action.default) and not 0 < value <= MAX_NUMBER:
                least = "0 or more" if 0 in (action.const, action.default) else "above 0"
                self.error(f"argument {action.option_strings[0]}: must be {least} and at most {MAX_NUMBER}, got {value}")
        return options, rest
