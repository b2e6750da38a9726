import { hash } from 'node:crypto'
import { isRecord } from '../../../base/record.ts'
import { keptTexts, type ContentTexts } from '../../audit/event/content.ts'
import { restorableOf } from '../../audit/event/restorable.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import type { SampledTexts } from '../../audit/replay-sample.ts'
import type { TextDirection } from '../../scan/classify/classifier.ts'
import { injectionPlaces, promptInjection, type InjectionPlace } from '../../scan/injection/places.ts'
import { actsOnInjections, type Plan } from '../plan.ts'
import type { ScannedTexts } from '../scan/collect-findings.ts'

/** An event to replay. */
export type StoredRequest = LoggedEvent & {
  /** From the replay sample, if its texts are not kept with the event. */
  readonly sample?: SampledTexts | undefined
}

export type ReplayTexts = ContentTexts & TextsOrigin

/** Where the texts of a request are from. */
export type TextsOrigin = {
  /** True if only the redacted texts were stored. */
  readonly isRedacted: boolean
  /** True if they are from the replay sample. */
  readonly isSampled?: boolean | undefined
}

/** The stored texts of an event, those that are kept with it first; undefined if there is none. */
export function replayTextsOf({ content, sample }: StoredRequest): ReplayTexts | undefined {
  const kept = keptTexts(content)
  if (hasText(kept)) return { ...kept, isRedacted: content?.full === undefined, isSampled: false }
  return hasText(sample) ? { ...sample, isRedacted: true, isSampled: true } : undefined
}

export const originOf = ({ isRedacted, isSampled }: TextsOrigin): TextsOrigin => ({ isRedacted, isSampled })

const hasText = <T extends ContentTexts>(texts: T | undefined): texts is T =>
  Boolean(texts?.prompt || texts?.response || texts?.withheld)

type ReplayedText = { readonly direction: TextDirection; readonly text: string }

/**
 * A replayed text as the checks read it. If one of them acts on prompt injections, the user messages of the request are added, because
 * only those are searched. Kept texts do not tell results of tools and documents from the text of users: all of them are in the
 * places in which the event records a prompt injection, or else in `user_text`.
 */
export function scannedReplayTexts(plan: Plan, { direction, text }: ReplayedText, event: StoredRequest): ScannedTexts {
  if (direction === 'response' || !actsOnInjections(plan)) return { texts: [text], direction }
  const { messages } = restorableOf({ full: replayTextsOf(event) })
  const fromUser = messages.filter(({ role }) => role === 'user').map((message) => message.text)
  const found = recordedPlaces(event)
  const places = found.length === 0 ? (['user_text'] as const) : found
  return {
    texts: [...new Set([text, ...fromUser])],
    places: new Map(fromUser.map((one) => [one, places])),
    direction,
  }
}

/** Where the event records a prompt injection. */
function recordedPlaces({ document }: LoggedEvent): readonly InjectionPlace[] {
  const { check_results: results } = document.unmapped.gatehouse
  const all: readonly unknown[] = Array.isArray(results) ? results : []
  const result = all.find((one) => isRecord(one) && one['check'] === promptInjection)
  const recorded: unknown = isRecord(result) ? result['places'] : undefined
  return Array.isArray(recorded) ? injectionPlaces.filter((place) => recorded.includes(place)) : []
}

/** The request and the response, unless they are empty. What was withheld of a response is part of it. */
export const replayedTexts = ({ prompt = '', response = '', withheld = '' }: ContentTexts): readonly ReplayedText[] =>
  [
    { direction: 'request' as const, text: prompt },
    { direction: 'response' as const, text: response + withheld },
  ].filter(({ text }) => text !== '')

/** A number from 0 to 100 derived from the event id, so that every backtest samples the same events. */
export const samplePositionOf = (eventId: string): number =>
  (Number.parseInt(hash('sha256', eventId, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
