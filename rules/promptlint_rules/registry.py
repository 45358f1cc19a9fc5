"""The table of contents of the product: every rule, in the order of its id."""

from __future__ import annotations

from promptlint_rules.base import Rule
from promptlint_rules.caching.below_minimum import BelowMinimum
from promptlint_rules.caching.changing_routing_key import ChangingRoutingKey
from promptlint_rules.caching.concurrent_cold_start import ConcurrentColdStart
from promptlint_rules.caching.expired_cache import ExpiredCache
from promptlint_rules.caching.lookback_exceeded import LookbackExceeded
from promptlint_rules.caching.lost_markers import LostMarkers
from promptlint_rules.caching.marker_life_order import MarkerLifeOrder
from promptlint_rules.caching.marker_on_volatile import MarkerOnVolatile
from promptlint_rules.caching.switched_model import SwitchedModel
from promptlint_rules.caching.switched_parameter import SwitchedParameter
from promptlint_rules.caching.too_many_markers import TooManyMarkers
from promptlint_rules.caching.unmarked_prefix import UnmarkedPrefix
from promptlint_rules.determinism.changing_tool_set import ChangingToolSet
from promptlint_rules.determinism.completion_order import CompletionOrder
from promptlint_rules.determinism.near_duplicate_prompt import NearDuplicatePrompt
from promptlint_rules.determinism.regenerated_call_id import RegeneratedCallId
from promptlint_rules.determinism.shuffled_examples import ShuffledExamples
from promptlint_rules.determinism.unordered_iteration import UnorderedIteration
from promptlint_rules.determinism.unsorted_json import UnsortedJson
from promptlint_rules.determinism.unstable_schema_order import UnstableSchemaOrder
from promptlint_rules.determinism.unstable_tool_order import UnstableToolOrder
from promptlint_rules.history.changing_image import ChangingImage
from promptlint_rules.history.edited_history import EditedHistory
from promptlint_rules.history.flipping_content_shape import FlippingContentShape
from promptlint_rules.history.restamped_history import RestampedHistory
from promptlint_rules.history.rolling_summary import RollingSummary
from promptlint_rules.history.sliding_history import SlidingHistory
from promptlint_rules.history.stripped_reasoning import StrippedReasoning
from promptlint_rules.history.unreplayed_tail import UnreplayedTail
from promptlint_rules.measurement.unreported_usage import UnreportedUsage
from promptlint_rules.order.attribution_first import AttributionFirst
from promptlint_rules.order.clock_first import ClockFirst
from promptlint_rules.order.counter_first import CounterFirst
from promptlint_rules.order.environment_first import EnvironmentFirst
from promptlint_rules.order.framework_clock import FrameworkClock
from promptlint_rules.order.identity_first import IdentityFirst
from promptlint_rules.order.random_id_first import RandomIdFirst
from promptlint_rules.order.retrieval_first import RetrievalFirst
from promptlint_rules.order.task_first import TaskFirst
from promptlint_rules.order.template_date import TemplateDate
from promptlint_rules.serving.extreme_gpu_memory_utilization import ExtremeGpuMemoryUtilization
from promptlint_rules.serving.overcommitted_kv import OvercommittedKv
from promptlint_rules.serving.prefix_caching_off import PrefixCachingOff
from promptlint_rules.size.inflated_prompt import InflatedPrompt
from promptlint_rules.size.oversized_output_bound import OversizedOutputBound
from promptlint_rules.size.oversized_retrieval import OversizedRetrieval
from promptlint_rules.size.padded_prompt import PaddedPrompt
from promptlint_rules.size.repeated_text import RepeatedText
from promptlint_rules.size.runaway_output import RunawayOutput
from promptlint_rules.size.unbounded_history import UnboundedHistory
from promptlint_rules.size.unbounded_output import UnboundedOutput
from promptlint_rules.tool.unknown_suppression import UnknownSuppression
from promptlint_rules.tool.unreadable_file import UnreadableFile
from promptlint_rules.tool.unused_suppression import UnusedSuppression

RULES: tuple[type[Rule], ...] = (
    ClockFirst,
    FrameworkClock,
    TemplateDate,
    RandomIdFirst,
    IdentityFirst,
    EnvironmentFirst,
    AttributionFirst,
    RetrievalFirst,
    CounterFirst,
    TaskFirst,
    UnstableToolOrder,
    ChangingToolSet,
    UnstableSchemaOrder,
    UnsortedJson,
    UnorderedIteration,
    CompletionOrder,
    RegeneratedCallId,
    ShuffledExamples,
    NearDuplicatePrompt,
    SlidingHistory,
    EditedHistory,
    RollingSummary,
    StrippedReasoning,
    UnreplayedTail,
    RestampedHistory,
    FlippingContentShape,
    ChangingImage,
    MarkerOnVolatile,
    TooManyMarkers,
    LookbackExceeded,
    BelowMinimum,
    ExpiredCache,
    SwitchedModel,
    SwitchedParameter,
    ChangingRoutingKey,
    ConcurrentColdStart,
    LostMarkers,
    UnmarkedPrefix,
    MarkerLifeOrder,
    UnboundedOutput,
    OversizedOutputBound,
    InflatedPrompt,
    OversizedRetrieval,
    RunawayOutput,
    PaddedPrompt,
    RepeatedText,
    UnboundedHistory,
    UnreportedUsage,
    PrefixCachingOff,
    ExtremeGpuMemoryUtilization,
    OvercommittedKv,
    UnreadableFile,
    UnusedSuppression,
    UnknownSuppression,
)
