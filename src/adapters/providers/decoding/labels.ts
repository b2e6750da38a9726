/** Recognises strings that cannot carry a message: ids, keywords of an API format, and random padding. */

const keywords: ReadonlySet<string> = new Set(
  `assistant auto batch chat.completion chat.completion.chunk commentary completed completion content_filter custom default
  direct disabled enabled end_turn ephemeral failed fast final_answer flex function function_call high incomplete
  in_progress length list low max_output_tokens max_tokens medium message minimal none object output_text pause_turn
  priority queued reasoning reasoning_text refusal required response safe scale standard stop stop_sequence summary_text
  text thinking tool_calls tool_use text_delta thinking_delta input_json_delta signature_delta citations_delta
  message_start message_delta message_stop content_block_start content_block_delta content_block_stop ping error
  redacted_thinking model_context_window_exceeded reasoning.text reasoning.summary reasoning.encrypted
  response.created response.in_progress response.queued response.completed response.incomplete response.failed
  response.output_item.added response.output_item.done response.content_part.added response.content_part.done
  response.output_text.delta response.output_text.done response.refusal.delta response.refusal.done
  response.function_call_arguments.delta response.function_call_arguments.done response.custom_tool_call_input.delta
  response.custom_tool_call_input.done response.reasoning_text.delta response.reasoning_text.done
  response.reasoning_summary_part.added response.reasoning_summary_part.done response.reasoning_summary_text.delta
  response.reasoning_summary_text.done response.output_text.annotation.added`.split(/\s+/),
)

/** An id contains a digit. One without a digit is scanned as text, which is cheap. */
const id = /^(?=[^\d]*\d)[\w.:/@+-]{1,200}$/

export const isLabel = (text: string): boolean => text.length < minLabelLength || keywords.has(text) || id.test(text)
const minLabelLength = 3

/** True for field names that hold an id or a keyword in every format. */
export const isLabelField = (name: string): boolean => labelFields.has(name) || name.endsWith('_id')
const labelFields: ReadonlySet<string> = new Set(['type', 'id', 'object', 'role', 'model', 'status', 'format'])

/** Known field names. Some are in no vendor's `shape.ts`, because they hold numbers or nested unknown fields. */
const fieldNames: ReadonlySet<string> = new Set(
  `annotation annotations arguments audio background billing bytes caller choices citation citations code completion container
  content created data delta detail detected details diagnostics echo edits effort error explanation filename filtered format
  hate id images include index input instructions item jailbreak logprob logprobs message metadata mode model moderation name
  object output outputs part payer phase profanity prompt provider query quote reason reasoning refusal response result
  results role score sequence severity sexual signature source sources speed status store strict summary temperature text
  thinking title token tokens tool tools transcript truncation type url usage user value verbosity violence`.split(
    /\s+/,
  ),
)

/** True for a field name that is known or in snake_case. Any other name may be a message. */
export const isFieldName = (text: string): boolean =>
  text.length < minLabelLength || fieldNames.has(text) || snakeCase.test(text)
const snakeCase = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/

const maxPaddingLength = 64
/** Shorter strings are not tested for words. */
const minWordLength = 4

/** True for random letters and digits. A string that looks like a word is not padding. */
export const isPadding = (text: string): boolean =>
  text.length < minWordLength ||
  (text.length <= maxPaddingLength && /^[A-Za-z0-9]+$/.test(text) && !wordLike.test(text))
const wordLike = /^(?:[A-Z]?[a-z]+|[A-Z]+)$/
