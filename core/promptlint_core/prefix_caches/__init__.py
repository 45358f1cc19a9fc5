"""Models of prefix caches, one file each: what an engine or a provider gives back of a prompt it has seen before.

Deterministic and without a clock: the time of every look-up is passed in, in seconds. Token counts are whatever the
caller counts in; the models only compare and floor.

| file | whose cache | unit of a hit |
|---|---|---|
| `vllm_blocks` | vLLM V1, TGI | full blocks of a shared pool |
| `sglang_radix` | SGLang | pages of a radix tree |
| `llamacpp_slots` | llama.cpp, Ollama | common prefix with one slot |
| `openai_intervals` | OpenAI before GPT-5.6, Azure | steps behind a minimum |
| `openai_breakpoints` | OpenAI from GPT-5.6 on | ends of messages and explicit breakpoints |
| `anthropic_markers` | Anthropic, Claude on Bedrock | marked block ends |
| `bedrock`, `gemini`, `deepseek_units`, `hosted_steps` | the other hosts | see there |
"""
