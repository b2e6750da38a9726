import { scanSource } from './literals.ts'
import { moduleOf } from './modules.ts'
import type { SourceFile } from './source-tree.ts'

/** Modules that know no HTTP and no vendor: `http`, `wire` and `adapters` translate for them. */
const neutralModules = ['domain', 'pipeline']

const headerName =
  /(?<![\w-])(?:x-[a-z]+(?:-[a-z]*)*|retry-after|www-authenticate|content-(?:type|length|encoding|disposition)|cache-control|transfer-encoding|user-agent|set-cookie|if-(?:none-)?match|last-modified|last-event-id|idempotency-key|idempotent-replayed|request-id|anthropic-(?:version|beta)|openai-[a-z]+)(?![\w-])|^(?:authorization|etag)$/i
const urlPath = /\/(?:v\d+|api)(?:\/|$)/

/** Names of fields and values in the vendors' formats that the gateway does not use for anything of its own. */
const vendorWords: ReadonlySet<string> = new Set(
  `
    anthropic openai choices arguments logprobs message_start message_delta message_stop content_block_start
    content_block_delta content_block_stop text_delta input_json_delta tool_use tool_use_id tool_result tool_calls
    tool_call_id tool_choice call_id item_id function_call function_call_output input_schema json_schema
    response_format output_format max_tokens max_completion_tokens max_output_tokens max_tool_calls
    parallel_tool_calls top_p top_k stop_reason finish_reason stop_sequence stop_sequences end_turn refusal_reason
    cache_creation_input_tokens cache_read_input_tokens cached_tokens cache_control media_type file_data file_id
    file_url image_url input_text output_text input_image redacted_thinking encrypted_content reasoning_effort
    reasoning_content budget_tokens output_config service_tier stream_options safety_identifier prompt_cache_key
    prompt_cache_retention mcp_servers previous_response_id context_management server_tool_use
    web_search_tool_result
  `
    .trim()
    .split(/\s+/),
)

const httpStatus = /\bstatus\w*\s*(?:[=!]==|[<>]=?|[:?])\s*[1-5]\d\d\b/

/** Lines of the neutral modules that name a header, a URL path, an HTTP status or a vendor's field. Comments may. */
export const protocolKnowledge = (tree: readonly SourceFile[]): string[] =>
  tree
    .filter(({ path }) => neutralModules.includes(moduleOf(path)))
    .flatMap(({ path, text }) => knowledgeIn(path, text))

function knowledgeIn(path: string, text: string): string[] {
  const { literals, code } = scanSource(text)
  const named = literals.filter(
    (literal) => headerName.test(literal.text) || urlPath.test(literal.text) || vendorWords.has(literal.text),
  )
  const lines = code.split('\n').flatMap((line, at) => (usesProtocol(line) ? [at + 1] : []))
  return [...new Set([...named.map(({ line }) => line), ...lines])]
    .sort((a, b) => a - b)
    .map((line) => `${path}:${line}`)
}

/** Fields may be read without quotes: `body.max_tokens`. */
const usesProtocol = (line: string): boolean =>
  httpStatus.test(line) || (line.match(/\w+_\w+/g) ?? []).some((word) => vendorWords.has(word))
