import type { ContentLevel } from '../domain/audit/event/content.ts'
import type { EventFacts } from '../domain/audit/event/facts.ts'
import { collectTexts, type TextCollector } from '../domain/audit/event/request-texts.ts'
import type { ReplaySampler } from '../domain/audit/replay-sample.ts'
import type { Ids } from '../base/ids.ts'
import type { OperationCall } from './operation-call.ts'

export type KeptTextsParts = {
  readonly content: ContentLevel
  /** Redacts personal data in a text. */
  readonly redact: (text: string) => string
  /** Undefined if no sample is kept. It is not needed where the texts of every request are kept. */
  readonly sampling?: { readonly sampler: ReplaySampler; readonly ids: Ids } | undefined
}

/** The texts of one request that are stored, with its event or in the replay sample. */
export type KeptTexts = {
  readonly collector: TextCollector
  /** The id that the event must have; undefined if any will do. */
  newEventId(): string | undefined
  /** What the event of this id is written with. */
  factsOf(eventId: string | undefined): Pick<EventFacts, 'content' | 'sample'>
}

/** Undefined if no text of the request is stored. */
export function startKeptTexts(
  { operation, request, caller }: OperationCall,
  { content, redact, sampling }: KeptTextsParts,
  atMs: number,
): KeptTexts | undefined {
  if (content === 'none' && sampling === undefined) return undefined
  const messagesOf = () => operation.messagesOf(request)
  if (content !== 'none') {
    const collector = collectTexts({ messagesOf, raw: request.raw }, { level: content, redact })
    return { collector, newEventId: () => undefined, factsOf: () => ({ content: collector.content() }) }
  }
  if (sampling === undefined || caller.kind === 'free') return undefined
  const { sampler, ids } = sampling
  const organizationId = caller.organization.id
  const position = sampler.draw(organizationId, atMs)
  if (position === undefined) return undefined
  const collector = collectTexts({ messagesOf, raw: undefined }, { level: 'redacted', redact })
  const textsOf = () => collector.content().redacted ?? {}
  return {
    collector,
    newEventId: () => ids('evt'),
    factsOf: (eventId) =>
      eventId === undefined ? {} : { sample: sampler.seal({ organizationId, eventId, atMs, position }, textsOf) },
  }
}
