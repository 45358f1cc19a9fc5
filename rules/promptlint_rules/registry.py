"""The table of contents of the product: every rule, in the order of its id."""

from __future__ import annotations

from promptlint_rules.base import Rule
from promptlint_rules.order.clock_first import ClockFirst
from promptlint_rules.order.counter_first import CounterFirst
from promptlint_rules.order.environment_first import EnvironmentFirst
from promptlint_rules.order.framework_clock import FrameworkClock
from promptlint_rules.order.identity_first import IdentityFirst
from promptlint_rules.order.random_id_first import RandomIdFirst
from promptlint_rules.order.retrieval_first import RetrievalFirst
from promptlint_rules.order.task_first import TaskFirst
from promptlint_rules.serving.extreme_gpu_memory_utilization import ExtremeGpuMemoryUtilization
from promptlint_rules.serving.overcommitted_kv import OvercommittedKv
from promptlint_rules.serving.prefix_caching_off import PrefixCachingOff
from promptlint_rules.size.oversized_output_bound import OversizedOutputBound
from promptlint_rules.size.oversized_retrieval import OversizedRetrieval
from promptlint_rules.size.unbounded_output import UnboundedOutput
from promptlint_rules.tool.unknown_suppression import UnknownSuppression
from promptlint_rules.tool.unreadable_file import UnreadableFile
from promptlint_rules.tool.unused_suppression import UnusedSuppression

RULES: tuple[type[Rule], ...] = (
    ClockFirst,
    FrameworkClock,
    RandomIdFirst,
    IdentityFirst,
    EnvironmentFirst,
    RetrievalFirst,
    CounterFirst,
    TaskFirst,
    UnboundedOutput,
    OversizedOutputBound,
    OversizedRetrieval,
    PrefixCachingOff,
    ExtremeGpuMemoryUtilization,
    OvercommittedKv,
    UnreadableFile,
    UnusedSuppression,
    UnknownSuppression,
)
