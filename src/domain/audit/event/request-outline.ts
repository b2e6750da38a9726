import type { ContentPart, Message, RawRequest } from '../../inference/request.ts'

/** What is stored with the prompt of a request, so that it can be sent again. */
export type RequestOutline = {
  /** Where each message begins in the prompt. Left out if redaction changed the borders of messages. */
  readonly messages?: readonly MessageStart[] | undefined
  /** The tools and parameters in the format of the caller, as JSON. Left out if they are too large. */
  readonly parameters?: string | undefined
  /** Types of parts that the prompt does not hold, or holds as plain text. */
  readonly lossy: readonly PartType[]
}

type PartType = Exclude<ContentPart['type'], 'text'>
export type MessageStart = { readonly role: Message['role']; readonly start: number }
export type PromptMessage = {
  readonly role: Message['role']
  readonly text: string
  readonly partTypes: readonly ContentPart['type'][]
}

const maxParametersBytes = 64_000

export type OutlineSource = {
  /** The prompt as it is stored. */
  readonly prompt: string
  readonly messages: readonly PromptMessage[]
  readonly raw: RawRequest
  /** What was applied to the prompt. */
  readonly transform: (text: string) => string
}

export function outlineOf({ prompt, messages, raw, transform }: OutlineSource): RequestOutline {
  const partTypes = messages.flatMap((message) => message.partTypes)
  return {
    messages: startsOf(prompt, messages),
    parameters: parametersOf(raw, transform),
    lossy: [...new Set(partTypes)].filter((type) => type !== 'text'),
  }
}

const marker = /(?:^|\n)(system|user|assistant): /g

/**
 * A message may contain lines that look like the start of another one. Their number is known, so the starts of messages are
 * also found in a prompt that redaction made longer or shorter.
 */
function startsOf(prompt: string, messages: readonly PromptMessage[]): readonly MessageStart[] | undefined {
  const found = markersIn(prompt)
  const starts: MessageStart[] = []
  let at = 0
  for (const { role, text } of messages) {
    const next = found[at]
    // A long prompt is truncated, so its last messages may be missing.
    if (next === undefined) return prompt.endsWith('…') ? starts : undefined
    if (next.role !== role) return undefined
    starts.push(next)
    at += markersIn(`\n${role}: ${text}`).length
  }
  return at === found.length || prompt.endsWith('…') ? starts : undefined
}

/** The lines of a prompt that look like the start of a message. */
export function markersIn(prompt: string): readonly MessageStart[] {
  return [...prompt.matchAll(marker)].map((match) => ({
    role: roleIn(match[1]),
    start: match.index + (match[0].startsWith('\n') ? 1 : 0),
  }))
}

const roleIn = (name: string | undefined): Message['role'] =>
  name === 'system' || name === 'assistant' ? name : 'user'

/** Without the fields that say whom the request is for. */
function parametersOf({ body, roles }: RawRequest, transform: (text: string) => string): string | undefined {
  const fields = Object.entries(body).filter(
    ([name, value]) => value !== undefined && !roles.recorded.has(name) && !roles.identifying.has(name),
  )
  const own = JSON.stringify(Object.fromEntries(fields)).toWellFormed()
  // Before redaction, which would take long for megabytes of tools.
  if (Buffer.byteLength(own) > maxParametersBytes) return undefined
  const json = transform(own)
  return isJson(json) ? json : undefined
}

/** Redaction may replace a number by a placeholder, which is no JSON. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The messages of a stored prompt. */
export function messagesIn(
  prompt: string,
  starts: readonly MessageStart[],
): readonly { readonly role: Message['role']; readonly text: string }[] {
  return starts.map(({ role, start }, at) => {
    const next = starts[at + 1]
    return { role, text: prompt.slice(start + role.length + 2, next === undefined ? undefined : next.start - 1) }
  })
}
