"""Library calls whose result changes on its own, by dotted name: clocks, random sources, the environment."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_core.cadence import Cadence, Origin


@dataclass(frozen=True, slots=True)
class Source:
    """What a call gives: `unit` is the finest unit of a clock reading, empty for anything else."""

    origin: Origin
    cadence: Cadence
    unit: str = ""
    is_text: bool = False
    """Of a clock: the call gives finished text, not an object that can be formatted."""
    detail: str = ""


def _table(names: str, source: Source) -> dict[str, Source]:
    return dict.fromkeys(names.split(), source)


def _clock(unit: str, *, is_text: bool = False) -> Source:
    return Source(Origin.CLOCK, Cadence.CALL, unit, is_text)


_RANDOM = Source(Origin.RANDOM, Cadence.CALL)
_SAMPLE = Source(Origin.SAMPLE, Cadence.CALL)
_MACHINE = Source(Origin.ENVIRONMENT, Cadence.DEPLOY)
_LISTING = Source(Origin.ENVIRONMENT, Cadence.TURN, detail="directory listing")

CALLS: dict[str, Source] = {
    **_table(
        "datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today arrow.now arrow.utcnow arrow.get"
        " pendulum.now django.utils.timezone.now django.utils.timezone.localtime pandas.Timestamp.now"
        " pandas.Timestamp.utcnow pandas.Timestamp.today datetime.now datetime.utcnow whenever.Instant.now"
        " whenever.ZonedDateTime.now",
        _clock("microsecond"),
    ),
    **_table("datetime.date.today date.today pendulum.today django.utils.timezone.localdate", _clock("day")),
    **_table(
        "time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter time.perf_counter_ns",
        _clock("microsecond"),
    ),
    **_table("time.localtime time.gmtime", _clock("second")),
    **_table("time.ctime time.asctime email.utils.formatdate", _clock("second", is_text=True)),
    **_table(
        "uuid.uuid1 uuid.uuid4 uuid.uuid6 uuid.uuid7 secrets.token_hex secrets.token_urlsafe secrets.token_bytes"
        " secrets.randbelow secrets.choice secrets.randbits os.urandom random.getrandbits random.random random.randint"
        " random.randrange random.uniform random.randbytes random.gauss tempfile.mkdtemp tempfile.mkstemp"
        " tempfile.mktemp tempfile.gettempprefix tempfile.NamedTemporaryFile tempfile.TemporaryDirectory"
        " shortuuid.uuid shortuuid.random nanoid.generate ulid.new ulid.ULID bson.ObjectId numpy.random.randint"
        " numpy.random.rand numpy.random.random id",
        _RANDOM,
    ),
    **_table(
        "random.sample random.choices random.choice numpy.random.choice numpy.random.permutation",
        _SAMPLE,
    ),
    **_table(
        "subprocess.run subprocess.check_output subprocess.getoutput subprocess.getstatusoutput subprocess.Popen"
        " os.popen asyncio.create_subprocess_exec asyncio.create_subprocess_shell sh.git git.Repo psutil.cpu_percent"
        " psutil.virtual_memory psutil.disk_usage psutil.process_iter os.getloadavg os.path.getmtime"
        " os.path.getctime os.stat os.getpid shutil.disk_usage",
        Source(Origin.ENVIRONMENT, Cadence.TURN),
    ),
    **_table("os.listdir os.scandir os.walk glob.glob glob.iglob", _LISTING),
    **_table("os.getcwd os.getcwdb pathlib.Path.cwd", Source(Origin.ENVIRONMENT, Cadence.SESSION)),
    **_table(
        "platform.system platform.platform platform.machine platform.node platform.release platform.version"
        " platform.python_version platform.uname platform.processor os.uname socket.gethostname getpass.getuser"
        " os.getlogin os.cpu_count pathlib.Path.home",
        _MACHINE,
    ),
    **_table("os.getenv os.environ.get decouple.config", Source(Origin.CONFIG, Cadence.DEPLOY)),
    **_table(
        "concurrent.futures.as_completed asyncio.as_completed",
        Source(Origin.ORDER, Cadence.CALL, detail="completion order"),
    ),
}

FIXED_LISTING = Source(Origin.ORDER, Cadence.CALL, detail="listing of a folder")
"""Of a folder that the program names: the same files each time, in an order that the file system chooses."""
PATH_LISTINGS = frozenset({"iterdir", "glob", "rglob", "walk"})
"""Methods of a path whose items come in no fixed order."""
PATH_READINGS = frozenset({"stat", "lstat"})

RETRIEVAL_METHODS = frozenset(
    [
        "similarity_search",
        "asimilarity_search",
        "similarity_search_with_score",
        "asimilarity_search_with_score",
        "similarity_search_by_vector",
        "similarity_search_with_relevance_scores",
        "max_marginal_relevance_search",
        "amax_marginal_relevance_search",
        "get_relevant_documents",
        "aget_relevant_documents",
        "query_points",
    ]
)
"""Methods that only retrievers and vector stores have."""

RETRIEVER_METHODS = frozenset(
    [
        "search",
        "asearch",
        "query",
        "aquery",
        "invoke",
        "ainvoke",
        "retrieve",
        "aretrieve",
        "get_memories",
        "recall",
        "hybrid_search",
        "near_text",
    ]
)
RETRIEVER_WORDS = frozenset(
    [
        "retriever",
        "memory",
        "memories",
        "mem0",
        "vectorstore",
        "vector",
        "store",
        "index",
        "collection",
        "qdrant",
        "chroma",
        "pinecone",
        "weaviate",
        "faiss",
        "milvus",
        "searcher",
        "rag",
        "kb",
        "knowledge",
        "tavily",
        "reranker",
        "elastic",
    ]
)
"""A search method counts when the name or class of its object has one of these words."""

CLOCK_ATTRIBUTES = {
    "year": "year", "month": "month", "day": "day", "hour": "hour", "minute": "minute", "second": "second",
    "microsecond": "microsecond", "tm_year": "year", "tm_mon": "month", "tm_mday": "day", "tm_hour": "hour",
    "tm_min": "minute", "tm_sec": "second", "weekday": "day", "isoweekday": "day", "day_of_week": "day",
}  # fmt: skip
