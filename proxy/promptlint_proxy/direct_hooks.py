"""Calls the hooks of the few addons directly: the stock dispatcher walks all addons twice for every hook of a flow."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mitmproxy.addonmanager import AddonManager

if TYPE_CHECKING:
    from mitmproxy import hooks

logger = logging.getLogger(__name__)

Hook = Callable[..., Any]


class DirectHooks(AddonManager):
    """Looks up once which addons take a hook. Nobody here listens to `update`, so that event is not sent."""

    def __init__(self, master: Any) -> None:
        super().__init__(master)
        self._hooks: dict[str, tuple[Hook, ...]] = {}

    def add(self, *addons: Any) -> None:
        super().add(*addons)
        self._hooks.clear()

    def remove(self, addon: Any) -> None:
        super().remove(addon)
        self._hooks.clear()

    async def handle_lifecycle(self, event: hooks.Hook) -> None:
        taken_by = self._hooks.get(event.name)
        if taken_by is None:
            taken_by = self._hooks[event.name] = tuple(
                hook for addon in self.chain for _, hook in self._iter_hooks(addon, event)
            )
        for hook in taken_by:
            try:
                result = hook(*event.args())
                if result is not None and inspect.isawaitable(result):
                    await result
            except Exception as error:
                logger.error("a hook for %s failed (%s)", event.name, type(error).__name__)  # noqa: TRY400 no text of flows
