"""Model servers over HTTP: OpenAI-compatible, Anthropic, Google."""
