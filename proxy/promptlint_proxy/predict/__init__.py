"""What the prefix cache behind the upstream should give back of each request: one small model per engine or host.

`Predictor.predict` is called when a request starts, `Predictor.answered` once its answer is known; requests in order of
their start. Predicted figures never mix with reported ones: reported usage only calibrates estimated token counts.
"""

from __future__ import annotations

from collections import OrderedDict

from promptlint_core import tokens
from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Request, Response
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_proxy.predict.calibration import Calibration
from promptlint_proxy.predict.chat_template import ChatTemplate
from promptlint_proxy.predict.choice import Model, cache_kind, make_model
from promptlint_proxy.predict.engines import Asked, LlamaCppModel, SglangModel, VllmModel
from promptlint_proxy.predict.hosted import BLOCK_TOKENS
from promptlint_proxy.predict.prediction import Prediction, PredictorSettings
from promptlint_proxy.predict.render import PieceEncoder, Rendered, render_pieces

__all__ = ["NOT_CACHED", "Prediction", "Predictor", "PredictorSettings"]

NOT_CACHED = ("embeddings", "rerank", "moderations", "unknown")
"""APIs that keep no KV memory of a prompt."""
_MOST_PENDING = 10_000
_MOST_MODELS = 64
_MOST_BYTES = 128_000_000
"""For all caches together; the one used longest ago goes first, the one in use never."""
_ENGINE_MODELS = (VllmModel, SglangModel, LlamaCppModel)


class Predictor:
    """Holds a model of each prefix cache that the traffic meets. Memory is bounded; not thread-safe."""

    def __init__(self, settings: PredictorSettings | None = None) -> None:
        """Raises PromptlintError when a tokenizer or template of the settings cannot be read."""
        self._settings = settings or PredictorSettings()
        self._template = (
            ChatTemplate(self._settings.tokenizer, self._settings.chat_template) if self._settings.tokenizer else None
        )
        self._encoders: dict[str, PieceEncoder] = {}
        self._models: OrderedDict[tuple[str, str], Model] = OrderedDict()
        self._bytes_of: dict[tuple[str, str], int] = {}
        self._kept_bytes = 0
        self._pending: OrderedDict[int, tuple[Asked, Model]] = OrderedDict()
        self._calibration = Calibration()
        self._count = 0

    def render(self, request: Request) -> Rendered:
        """Token ids of a request, and what counted them."""
        if self._template is not None:
            try:
                rendered = self._template.render(request)
            except PromptlintError:
                rendered = None  # the engine would refuse it too; its pieces can still be compared
            if rendered is not None:
                return rendered
            return render_pieces(
                request,
                self._encoders.setdefault("file", PieceEncoder(self._template.encode)),
                tokens.Encoding(f"{self._template.name} without a chat template", exact=False),
            )
        encoding = tokens.encoding_for(request.model)
        name = encoding.name
        encoder = self._encoders.setdefault(name, PieceEncoder(lambda text: tokens.encode(text, name)))
        return render_pieces(request, encoder, tokens.Encoding(f"tiktoken {name}", encoding.exact))

    def predict(self, request: Request, at: float) -> Prediction:
        """What the cache gives back of a request that starts now; look-ups touch and allocate as the engine does.

        Args:
            request: requests must come in order of their start.
            at: start of the request in seconds; only differences count.
        """
        if request.api in NOT_CACHED:
            return _unknown("this kind of request has no prompt cache")
        if request.hidden_prefix:
            return _unknown("part of the prompt is kept by the server and not on the wire")
        if not request.pieces:
            return _unknown("the request shows no prompt")
        rendered = self.render(request)
        kind = cache_kind(request, self._settings)
        model = self._model(kind, request)
        space = _space(request, kind)
        block_size = self._settings.block_size if isinstance(model, _ENGINE_MODELS) else BLOCK_TOKENS
        hashes = chain(rendered.ids, block_size, extra_keys=(space,), key=self._settings.hash_key)
        scale = 1.0 if isinstance(model, _ENGINE_MODELS) else self._calibration.scale(request, exact=rendered.exact)
        unseen_tokens = self._calibration.unseen_tokens(request, _head(hashes))
        self._count += 1
        asked = Asked(self._count, request, rendered, space, hashes, at, scale, unseen_tokens)
        outcome = model.ask(asked)
        self._remember(asked, model)
        told = self._calibration.scale(request, exact=rendered.exact)
        hit = outcome.hit_tokens
        if (
            hit
            and isinstance(model, _ENGINE_MODELS)
            and (unseen_tokens or (isinstance(model, VllmModel) and told != 1))
        ):
            step = block_size if isinstance(model, VllmModel) else 1
            hit = int(hit * (told if isinstance(model, VllmModel) else 1) + unseen_tokens) // step * step
        return Prediction(
            prompt_tokens=round(len(rendered.ids) * told) + unseen_tokens,
            hit_tokens=hit,
            written_tokens=outcome.written_tokens,
            block_hashes=hashes,
            block_size=block_size,
            reason=outcome.reason,
            tokens_source=rendered.source,
        )

    def answered(self, request: Request, response: Response, at: float) -> None:
        """Tell the outcome of a predicted request; failed requests write nothing.

        Args:
            request: the same object that was given to `predict`.
            response: as far as it is known.
            at: when the answer began, in the seconds of `predict`; entries of hosts can be read from then on.
        """
        pending = self._pending.pop(id(request), None)
        if pending is None:
            return
        asked, model = pending
        usage = response.usage
        failed = response.error is not None or (response.status is not None and response.status >= 400)
        if usage is not None and usage.prompt_tokens:
            counted, exact = len(asked.rendered.ids), asked.rendered.exact
            self._calibration.learn(request, counted, usage.prompt_tokens, exact=exact, head=_head(asked.hashes))
        if isinstance(model, _ENGINE_MODELS):
            if failed:
                model.drop(asked)
            else:
                output = usage.output_tokens if usage is not None else None
                model.answer(asked, output, response)
        elif not failed:
            model.begin(asked, max(at, asked.at))

    def _model(self, kind: str, request: Request) -> Model:
        """One cache a host; engines share their pool between the models of a host only by name."""
        key = (kind, f"{request.host}\0{request.model}" if kind in ("vllm", "sglang", "llamacpp") else kind)
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = make_model(kind, self._settings)
        self._models.move_to_end(key)
        kept_bytes = model.kept_bytes
        self._kept_bytes += kept_bytes - self._bytes_of.get(key, 0)
        self._bytes_of[key] = kept_bytes
        while len(self._models) > 1 and (len(self._models) > _MOST_MODELS or self._kept_bytes > _MOST_BYTES):
            oldest, _ = self._models.popitem(last=False)
            self._kept_bytes -= self._bytes_of.pop(oldest)
        return model

    @property
    def kept_bytes(self) -> int:
        """About what all caches took when each of them was last asked."""
        return self._kept_bytes

    def _remember(self, asked: Asked, model: Model) -> None:
        self._pending[id(asked.request)] = (asked, model)
        while len(self._pending) > _MOST_PENDING:
            _, (forgotten, of_model) = self._pending.popitem(last=False)
            if isinstance(of_model, _ENGINE_MODELS):
                of_model.drop(forgotten)


def _space(request: Request, kind: str) -> str:
    """What separates cache entries beside the tokens: nothing that may change while the prefix stays readable."""
    routing = "" if kind in ("vllm", "sglang", "llamacpp") else request.routing_key or ""
    parameters = ";".join(
        f"{name}={value}"
        for name, value in request.parameters
        if name.split(".")[0] not in ("tool_choice", "prompt_cache_options", "prompt_cache_retention")
    )
    return "\0".join((kind, request.model or "", request.salt or "", routing, parameters))


def _head(hashes: tuple[int, ...]) -> int:
    """What prompts with the same beginning have in common."""
    return hashes[0] if hashes else 0


def _unknown(reason: str) -> Prediction:
    return Prediction(None, None, None, (), 0, reason)
