/** The texts that are evaluated again: those kept with the event, or those sent along. */
import { keptTexts } from '../audit/event/content.ts'
import { restorableOf } from '../audit/event/restorable.ts'
import type { LoggedEvent } from '../audit/log.ts'
import type { TextLocation } from '../evaluation/texts/request-texts.ts'
import type { GatewayConfiguration } from '../gateway-config/configuration.ts'
import { noFieldRoles } from '../inference/field-roles.ts'
import type { ContentPart, InferenceRequest, Message } from '../inference/request.ts'
import type { Span } from '../scan/normalise/normalise.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import { injectionPlaces } from '../scan/injection/places.ts'
import type { RerunLoss } from './explanation.ts'
import type { RecordedOutcome } from './recorded-outcomes.ts'

/** Texts that the caller of an explanation sends along. */
export type SentTexts = {
  readonly request: InferenceRequest | undefined
  readonly response: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
}

export type RerunTexts = {
  readonly basis: 'rerun' | 'rerun_of_sent_text'
  readonly request: InferenceRequest | undefined
  /** The response as the only message of a request, which is how responses are evaluated as a whole. */
  readonly response: InferenceRequest | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  readonly losses: readonly RerunLoss[]
}

/** Undefined if there is no text to evaluate. */
export function rerunTextsOf({ content }: LoggedEvent, sent: SentTexts | undefined): RerunTexts | undefined {
  if (sent !== undefined) return sentTexts(sent)
  const { prompt = '', response = '', withheld = '' } = keptTexts(content) ?? {}
  if (prompt + response + withheld === '') return undefined
  const { messages, losses } = restorableOf(content)
  return {
    basis: 'rerun',
    request: prompt === '' ? undefined : requestOfTexts(messages),
    response: responseOf(response + withheld),
    metadata: {}, // not in the audit log
    losses,
  }
}

function sentTexts({ request, response = '', metadata }: SentTexts): RerunTexts {
  return {
    basis: 'rerun_of_sent_text',
    // Without the body, which would keep a text that is taken out of a message.
    request: request && { ...request, raw: { ...request.raw, body: {}, roles: noFieldRoles } },
    response: responseOf(response),
    metadata,
    losses: [],
  }
}

const responseOf = (text: string): InferenceRequest | undefined =>
  text === '' ? undefined : requestOfTexts([{ role: 'assistant', text }])

export const requestOfTexts = (messages: readonly { readonly role: Message['role']; readonly text: string }[]) => ({
  model: '',
  stream: false,
  messages: messages.map(({ role, text }): Message => ({ role, parts: [{ type: 'text', text }] })),
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'chat', body: {}, headers: {}, roles: noFieldRoles } as const,
})

/**
 * The configuration with the modes that the event records. Kept texts do not tell results of tools and documents from the text of
 * users, so all of them are treated as the places were in which prompt injections were found.
 */
export function withRecordedModes(
  config: GatewayConfiguration,
  outcomes: readonly RecordedOutcome[],
  basis: RerunTexts['basis'],
): GatewayConfiguration {
  const found = outcomes.find(({ check }) => check === 'prompt_injection')
  const isBlocked = found?.isEnforced === true
  if (basis === 'rerun')
    return withModes(config, { user_text: found === undefined ? 'off' : isBlocked ? 'block' : 'monitor' })
  // The rollout of the configuration may have kept a place from being blocked.
  return found === undefined || isBlocked ? config : withModes(config, unblocked(config.rules.prompt_injection))
}

type Modes = GatewayConfiguration['rules']['prompt_injection']

const withModes = ({ rules, ...config }: GatewayConfiguration, modes: Partial<Modes>): GatewayConfiguration => ({
  ...config,
  rules: { ...rules, prompt_injection: { ...rules.prompt_injection, ...modes } },
})

const unblocked = (modes: Modes): Partial<Modes> =>
  Object.fromEntries(injectionPlaces.map((place) => [place, modes[place] === 'block' ? 'monitor' : modes[place]]))

/** The place of a text as users see it. Kept messages have one text each. */
export function partName(where: TextLocation, direction: TextDirection, { basis }: RerunTexts): string {
  if (direction === 'response') return 'response'
  if (where.kind !== 'part') return where.kind
  return basis === 'rerun' ? `messages[${where.message}]` : `messages[${where.message}].content[${where.part}]`
}

/** The prose at a place; undefined for other parts, which cannot be changed alone. */
export function proseAt({ messages }: InferenceRequest, where: TextLocation): string | undefined {
  if (where.kind !== 'part') return undefined
  const part = messages[where.message]?.parts[where.part]
  return part !== undefined && isProse(part) ? part.text : undefined
}

const isProse = (part: ContentPart): part is Extract<ContentPart, { readonly text: string }> =>
  part.type === 'text' || part.type === 'thinking' || part.type === 'refusal'

export function withoutSpan(request: InferenceRequest, where: TextLocation, { start, end }: Span): InferenceRequest {
  if (where.kind !== 'part') return request
  const messages = request.messages.map((message, at) => {
    if (at !== where.message) return message
    const parts = message.parts.map((part, index) =>
      index === where.part && isProse(part)
        ? { ...part, text: part.text.slice(0, start) + part.text.slice(end) }
        : part,
    )
    return { ...message, parts }
  })
  return { ...request, messages }
}
